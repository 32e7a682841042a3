"""`python -m s2s_ad` is the command s2s-ad."""

import sys

from s2s_ad.cli.commands import main

if __name__ == "__main__":
    sys.exit(main())
