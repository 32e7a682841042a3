"""`python -m random_programs`: see `run`."""

import sys

from random_programs.run import main

sys.exit(main())
