"""Which passes run when."""

from s2s_ad.simplify.dead import DEAD
from s2s_ad.simplify.finish import DIVIDE, ERASE, KEEP_DIMENSIONS, NEAREST, OWN

AFTER = (DEAD,)  # after each transform
FINAL = (ERASE, NEAREST, DEAD, DIVIDE, KEEP_DIMENSIONS, DEAD)  # before the text is written
FINAL_DERIVED = (*FINAL, OWN)
