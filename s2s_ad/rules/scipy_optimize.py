"""scipy.optimize: what is refused. What is not refused calls the user's: `api/scipy_optimize`."""

from __future__ import annotations

import scipy.optimize

from s2s_ad.rules.unsupported import refuse

CONSTRAINED = "which constraints hold with equality is not known before it has run"
SEARCH = "it searches at random, or by comparing values"
INTERIOR = "use minimize without bounds, of variables that cannot leave them: np.exp(q)"
LOCAL = "use minimize, from a point that it found before: stop_gradient of its x"

refuse(scipy.optimize.basinhopping, SEARCH, LOCAL)
refuse(scipy.optimize.brute, SEARCH, LOCAL)
refuse(
    scipy.optimize.curve_fit,
    "its function takes the parameters one by one, and is fitted to data beside",
    "use least_squares of the residuals: lambda q: f(x, *q) - y",
)
refuse(scipy.optimize.differential_evolution, SEARCH, LOCAL)
refuse(scipy.optimize.direct, SEARCH, LOCAL)
refuse(scipy.optimize.dual_annealing, SEARCH, LOCAL)
refuse(scipy.optimize.linprog, CONSTRAINED, INTERIOR)
refuse(scipy.optimize.lsq_linear, CONSTRAINED, "use np.linalg.lstsq, which has no bounds")
refuse(scipy.optimize.milp, "its solution moves in steps", "relax it to a smooth problem")
refuse(scipy.optimize.nnls, CONSTRAINED, "use np.linalg.lstsq, which has no bounds")
refuse(scipy.optimize.shgo, SEARCH, LOCAL)
