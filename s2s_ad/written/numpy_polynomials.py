"""np.poly1d and np.polynomial.Polynomial: polynomials by their coefficients."""

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


# ---- np.polynomial.Polynomial --------------------------------------------------------------------


class Polynomial(np.polynomial.Polynomial):
    """A polynomial by its coefficients, the constant first; `domain` is mapped to `window`."""

    def __init__(self, coef, domain=None, window=None, symbol="x"):
        self.coef = np.atleast_1d(np.asarray(coef)) + 0.0
        if self.coef.ndim > 1:
            raise ValueError("Coefficient array is not 1-d")
        self._mapped = domain is not None or window is not None
        self.domain = np.array([-1.0, 1.0]) if domain is None else np.asarray(domain) + 0.0
        self.window = np.array([-1.0, 1.0]) if window is None else np.asarray(window) + 0.0
        self._symbol = symbol

    @property
    def symbol(self) -> Any:
        return self._symbol

    def _like(self, coef) -> Any:
        if self._mapped:
            return Polynomial(coef, self.domain, self.window, self._symbol)
        return Polynomial(coef, symbol=self._symbol)

    def mapparms(self) -> Any:
        old, new = self.domain, self.window
        length = old[1] - old[0]
        offset = (old[1] * new[0] - old[0] * new[1]) / length
        return offset, (new[1] - new[0]) / length

    def __call__(self, arg):
        if not self._mapped:
            return np.polynomial.polynomial.polyval(arg, self.coef)
        offset, scale = self.mapparms()
        return np.polynomial.polynomial.polyval(offset + scale * np.asarray(arg), self.coef)

    def __len__(self):
        return len(self.coef)

    def __iter__(self):
        return iter(self.coef)

    def degree(self) -> Any:
        return len(self.coef) - 1

    def copy(self) -> Any:
        return self._like(self.coef)

    def _coef_of(self, other) -> Any:
        if isinstance(other, np.polynomial.Polynomial):
            if self._mapped or other._mapped:
                unsupported("Polynomials with domains in an operation", "leave the domains out")
            return other.coef
        return np.atleast_1d(np.asarray(other))

    def __neg__(self):
        return self._like(-self.coef)

    def __pos__(self):
        return self

    def __add__(self, other):
        return self._like(_added(self.coef, self._coef_of(other)))

    def __radd__(self, other):
        return self + other

    def __sub__(self, other):
        return self._like(_added(self.coef, -self._coef_of(other)))

    def __rsub__(self, other):
        return self._like(_added(self._coef_of(other), -self.coef))

    def __mul__(self, other):
        return self._like(np.convolve(self.coef, self._coef_of(other)))

    def __rmul__(self, other):
        return self * other

    def __truediv__(self, other):
        if np.ndim(other) > 0:
            unsupported("a Polynomial divided by more than a number", "use np.polydiv")
        return self._like(self.coef / other)

    def __pow__(self, other):
        coef = np.ones(1)
        for _ in range(other):
            coef = np.convolve(coef, self.coef)
        return self._like(coef)

    def __eq__(self, other):
        unsupported("a comparison of Polynomials", "compare the coefficients")

    def __ne__(self, other):
        unsupported("a comparison of Polynomials", "compare the coefficients")

    def deriv(self, m=1) -> Any:
        scale = self.mapparms()[1] if self._mapped else 1.0
        return self._like(np.polyder(self.coef[::-1], m)[::-1] * scale**m)

    def integ(self, m=1, k=0, lbnd=None) -> Any:
        if self._mapped or lbnd is not None:
            unsupported("an integral of a Polynomial with a domain or lbnd=", "use np.polyint")
        return self._like(np.polyint(self.coef[::-1], m, k)[::-1])

    def roots(self) -> Any:
        found = np.sort(np.roots(self.coef[::-1]))
        if not self._mapped:
            return found
        offset, scale = self.mapparms()
        return (found - offset) / scale


def _added(a, b) -> Any:
    """The longer one with the shorter one added to its first items."""
    count = max(len(a), len(b))
    sides = [np.concatenate([each, np.zeros(count - len(each))]) for each in (a, b)]
    return sides[0] + sides[1]
