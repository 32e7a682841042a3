"""What all tests share."""

import os

from hypothesis import settings

os.environ.setdefault("S2S_AD_VERIFY", "1")  # Core is verified after each pass

# No deadline: the first example of a test compiles, the others do not, and machines are shared.
settings.register_profile("s2s_ad", deadline=None, print_blob=True)
settings.load_profile("s2s_ad")


def pytest_addoption(parser):
    parser.addoption(
        "--rewrite-golden", action="store_true", help="write tests/golden/expected anew"
    )
