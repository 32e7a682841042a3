"""np.poly1d: a polynomial by its coefficients, the one of the highest power first."""

from __future__ import annotations

from typing import Any

import numpy as np

from s2s_ad.written.marks import unsupported


def polynomial(value) -> Any:
    return value if isinstance(value, poly1d) else poly1d(value)


def not_an_array(value) -> Any:
    """What stands on the left of a polynomial: NumPy's own would make an array of both."""
    if isinstance(value, (np.ndarray, np.generic)):
        unsupported("an array on the left of np.poly1d", "put the polynomial first: p * x")
    return polynomial(value)


class poly1d(np.poly1d):
    """The polynomial; `_all` are its coefficients, whose first ones may be zero.

    As with NumPy's they are the array that it is made of, not a copy.
    """

    def __init__(self, c_or_r, r=False, variable=None):
        if isinstance(c_or_r, np.poly1d):
            self._all, self._name = c_or_r._all, c_or_r._name
        else:
            self._all = np.atleast_1d(np.poly(c_or_r) if r else np.asarray(c_or_r))
            self._name = "x"
        if self._all.ndim > 1:
            raise ValueError("Polynomial must be 1d only.")
        if variable is not None:
            self._name = variable

    @property
    def coeffs(self) -> Any:
        """The coefficients from the first on that is not zero."""
        found = np.trim_zeros(self._all, "f")
        return found if len(found) > 0 else self._all[:1] * 0

    @property
    def variable(self) -> Any:
        return self._name

    @property
    def coef(self) -> Any:
        return self.coeffs

    @property
    def coefficients(self) -> Any:
        return self.coeffs

    @property
    def c(self) -> Any:
        return self.coeffs

    @property
    def order(self) -> Any:
        return len(self.coeffs) - 1

    @property
    def o(self) -> Any:
        return self.order

    @property
    def roots(self) -> Any:
        return np.roots(self._all)

    @property
    def r(self) -> Any:
        return self.roots

    def __len__(self):
        return self.order

    def __iter__(self):
        return iter(self.coeffs)

    def __call__(self, val):
        if isinstance(val, np.poly1d):
            result = poly1d([0])
            for each in self._all:
                result = result * val + each
            return result
        return np.polyval(self._all, val)

    def __getitem__(self, val):
        if val < 0 or val >= len(self._all):
            return 0.0
        return self._all[len(self._all) - 1 - val]

    def __setitem__(self, key, val):
        if key < 0:
            raise ValueError("Does not support negative powers.")
        if key >= len(self._all):
            more = np.zeros(key + 1 - len(self._all), dtype=self._all.dtype)
            self._all = np.concatenate([more, self._all])
        self._all[len(self._all) - 1 - key] = val

    def __neg__(self):
        return poly1d(-self._all)

    def __pos__(self):
        return self

    def __add__(self, other):
        return poly1d(np.polyadd(self._all, polynomial(other)._all))

    def __radd__(self, other):
        return not_an_array(other) + self

    def __sub__(self, other):
        return poly1d(np.polysub(self._all, polynomial(other)._all))

    def __rsub__(self, other):
        return not_an_array(other) - self

    def __mul__(self, other):
        return poly1d(np.convolve(self._all, polynomial(other)._all))

    def __rmul__(self, other):
        return not_an_array(other) * self

    def __truediv__(self, other):
        if not isinstance(other, (np.poly1d, list, tuple)) and np.ndim(other) == 0:
            return poly1d(self._all / other)
        q, r = np.polydiv(self.coeffs, polynomial(other).coeffs)
        return poly1d(q), poly1d(r)

    def __rtruediv__(self, other):
        if not isinstance(other, (list, tuple)):
            unsupported("a number divided by np.poly1d", "divide the coefficients")
        return polynomial(other) / self

    def __pow__(self, val):
        if val < 0:
            raise ValueError("Power to non-negative integers only.")
        result = poly1d([1])
        for _ in range(val):
            result = result * self
        return result

    def __eq__(self, other):
        unsupported("a comparison of np.poly1d", "compare the coefficients")

    def __ne__(self, other):
        unsupported("a comparison of np.poly1d", "compare the coefficients")

    def deriv(self, m=1) -> Any:
        return poly1d(np.polyder(self._all, m))

    def integ(self, m=1, k=0) -> Any:
        return poly1d(np.polyint(self._all, m, k))
