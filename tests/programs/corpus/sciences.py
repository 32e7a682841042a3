"""Orbits, the sun, colour, speech and small algorithms, as their repositories write them."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from itertools import count
from math import cos, degrees, radians, sin
from typing import ClassVar

import numpy as np
from scipy.fftpack import dct

from programs.case import Case


class ConvergenceError(Exception):
    def __init__(self, iterations, residual):
        super().__init__("no convergence in %d iterations (%g)" % (iterations, residual))
        self.iterations = iterations


def mean_to_true(M: float, ecc: float, tol: float = 1e-12, maxiter: int = 50) -> float:
    M = np.mod(M, 2 * np.pi)
    if ecc == 0.0:
        return M
    E = M if ecc < 0.8 else np.pi
    for _ in range(maxiter):
        delta = (E - ecc * np.sin(E) - M) / (1.0 - ecc * np.cos(E))
        E -= delta
        if np.abs(delta) < tol:
            break
    else:
        raise ConvergenceError(maxiter, delta)
    return 2 * np.arctan2(np.sqrt(1 + ecc) * np.sin(E / 2), np.sqrt(1 - ecc) * np.cos(E / 2))


def coe2rv(k, p, ecc, inc, raan, argp, nu):
    pqw = np.array([[np.cos(nu), np.sin(nu), 0], [-np.sin(nu), ecc + np.cos(nu), 0]]) * np.array(
        [[p / (1 + ecc * np.cos(nu))], [np.sqrt(k / p)]]
    )

    def rot(angle, axis):
        c, s = np.cos(angle), np.sin(angle)
        if axis == 0:
            return np.array([[1.0, 0.0, 0.0], [0.0, c, -s], [0.0, s, c]])
        elif axis == 2:
            return np.array([[c, -s, 0.0], [s, c, 0.0], [0.0, 0.0, 1.0]])
        raise ValueError("Invalid axis: must be one of 'x' or 'z'")

    R = rot(raan, 2) @ rot(inc, 0) @ rot(argp, 2)
    return pqw @ R.T


def orbit_position(elements):
    a, ecc, inc, raan, argp, M = elements
    nu = mean_to_true(M, ecc)
    r, v = coe2rv(1.0, a * (1 - ecc**2), ecc, inc, raan, argp, nu)
    energy = v @ v / 2 - 1.0 / np.sqrt(r @ r)
    h = np.cross(r, v)
    return energy + h[2] + r[0]


@lru_cache(maxsize=None)
def julian_day(year, month, day, hour=0, minute=0, second=0.0):
    if month <= 2:
        year -= 1
        month += 12
    a = year // 100
    b = 2 - a + a // 4
    jd = int(365.25 * (year + 4716)) + int(30.6001 * (month + 1)) + day + b - 1524.5
    return jd + (hour + minute / 60.0 + second / 3600.0) / 24.0


def solar_elevation(latitude, longitude, when):
    """Elevation of the sun in degrees (low precision)."""
    jd = julian_day(when.year, when.month, when.day, when.hour, when.minute, when.second)
    n = jd - 2451545.0
    L = (280.460 + 0.9856474 * n) % 360
    g = radians((357.528 + 0.9856003 * n) % 360)
    lam = radians(L + 1.915 * sin(g) + 0.020 * sin(2 * g))
    eps = radians(23.439 - 4e-7 * n)
    dec = math.asin(sin(eps) * sin(lam))
    ra = math.atan2(cos(eps) * sin(lam), cos(lam))
    gmst = (6.697375 + 0.0657098242 * n + when.hour + when.minute / 60.0) % 24
    lha = radians((gmst * 15 + longitude) % 360) - ra
    lat = radians(latitude)
    return degrees(math.asin(sin(lat) * sin(dec) + cos(lat) * cos(dec) * cos(lha)))


def stumpff(psi):
    if psi > 1e-6:
        s = np.sqrt(psi)
        return (1 - np.cos(s)) / psi, (s - np.sin(s)) / s**3
    elif psi < -1e-6:
        s = np.sqrt(-psi)
        return (np.cosh(s) - 1) / -psi, (np.sinh(s) - s) / s**3
    else:
        res2 = res3 = 0.0
        for k in count(0):
            d2 = (-psi) ** k / math.factorial(2 * k + 2)
            res2 += d2
            res3 += (-psi) ** k / math.factorial(2 * k + 3)
            if abs(d2) < 1e-12 or k > 5:
                break
        return res2, res3


def universal_kepler(r0, v0, tof):
    mu = 1.0
    rn = np.sqrt(np.dot(r0, r0))
    vr = np.dot(r0, v0) / rn
    alpha = 2 / rn - np.dot(v0, v0)
    x = np.sqrt(mu) * abs(alpha) * tof
    converged, i = False, 0
    while not converged and i < 30:
        c2, c3 = stumpff(alpha * x**2)
        F = rn * vr * x**2 * c2 + (1 - alpha * rn) * x**3 * c3 + rn * x - tof
        dF = rn * vr * x * (1 - alpha * x**2 * c3) + (1 - alpha * rn) * x**2 * c2 + rn
        step = F / dF
        x -= step
        converged = abs(step) < 1e-12
        i += 1
    if not converged:
        raise ConvergenceError(i, step)
    c2, c3 = stumpff(alpha * x**2)
    f = 1 - x**2 / rn * c2
    g = tof - x**3 * c3
    return np.sum((f * r0 + g * v0) ** 2)


def pv_power(pdc0, temp, poa, gamma=-0.004, model="pvwatts", losses=None):
    """DC and AC power of a photovoltaic system."""
    poa = np.asarray(poa, dtype=float)
    temp_cell = temp + poa / 1000.0 * 3
    pdc = poa * 0.001 * pdc0 * (1 + gamma * (temp_cell - 25.0))
    losses = losses or dict(soiling=2, shading=3, wiring=2)
    perf = 1
    for name, value in losses.items():
        perf *= 1 - value / 100
    pdc = pdc * perf
    if model == "pvwatts":
        pac0 = 0.96 * pdc0
        zeta = pdc / pdc0
        eta = np.zeros_like(pdc, dtype=float)
        pdc_neq_0 = ~np.equal(pdc, 0)
        eta = (
            0.96
            / 0.9637
            * (-0.0162 * zeta - np.divide(0.0059, zeta, out=eta, where=pdc_neq_0) + 0.9858)
        )
        power_ac = eta * pdc
        power_ac = np.minimum(pac0, power_ac)
        power_ac = np.maximum(0, power_ac)
    else:
        raise ValueError(model + " is not a valid AC power model")
    return power_ac.sum()


ILLUMINANTS = {"D65": (0.31270, 0.32900), "A": (0.44758, 0.40745)}


M_SRGB = np.array(
    [
        [0.4124564, 0.3575761, 0.1804375],
        [0.2126729, 0.7151522, 0.0721750],
        [0.0193339, 0.1191920, 0.9503041],
    ]
)


def as_float_array(a, dtype=None):
    if dtype is None:
        dtype = np.float64
    return np.asarray(a, dtype)


def tsplit(a):
    a = as_float_array(a)
    return np.array([a[..., x] for x in range(a.shape[-1])])


def tstack(a):
    return np.concatenate([as_float_array(x)[..., np.newaxis] for x in a], axis=-1)


def eotf_sRGB(V):
    V = as_float_array(V)
    return np.where(V <= 0.04045, V / 12.92, ((V + 0.055) / 1.055) ** 2.4)


def XYZ_to_Lab(XYZ, illuminant=ILLUMINANTS["D65"]):
    X, Y, Z = tsplit(XYZ)
    x, y = illuminant
    Xn, Yn, Zn = x / y, 1.0, (1 - x - y) / y
    f = lambda t: np.where(t > (24 / 116) ** 3, np.cbrt(t), (841 / 108) * t + 16 / 116)
    fx, fy, fz = f(X / Xn), f(Y / Yn), f(Z / Zn)
    return tstack([116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)])


def delta_E_srgb(rgb1, rgb2):
    lab = [XYZ_to_Lab(np.einsum("...ij,...j->...i", M_SRGB, eotf_sRGB(c))) for c in (rgb1, rgb2)]
    return np.linalg.norm(lab[0] - lab[1], axis=-1)


def hz2mel(hz):
    return 2595 * np.log10(1 + hz / 700.0)


def mel2hz(mel):
    return 700 * (10 ** (mel / 2595.0) - 1)


@lru_cache(maxsize=8)
def get_filterbanks(nfilt=6, nfft=32, samplerate=800, lowfreq=0, highfreq=None):
    highfreq = highfreq or samplerate / 2
    assert highfreq <= samplerate / 2, "highfreq is greater than samplerate/2"
    melpoints = np.linspace(hz2mel(lowfreq), hz2mel(highfreq), nfilt + 2)
    bin = np.floor((nfft + 1) * mel2hz(melpoints) / samplerate)
    fbank = np.zeros([nfilt, nfft // 2 + 1])
    for j in range(0, nfilt):
        for i in range(int(bin[j]), int(bin[j + 1])):
            fbank[j, i] = (i - bin[j]) / (bin[j + 1] - bin[j])
        for i in range(int(bin[j + 1]), int(bin[j + 2])):
            fbank[j, i] = (bin[j + 2] - i) / (bin[j + 2] - bin[j + 1])
    return fbank


def framesig(sig, frame_len, frame_step, winfunc=lambda x: np.ones((x,))):
    slen = len(sig)
    frame_len = int(round(frame_len))
    frame_step = int(round(frame_step))
    if slen <= frame_len:
        numframes = 1
    else:
        numframes = 1 + int(math.ceil((1.0 * slen - frame_len) / frame_step))
    padlen = int((numframes - 1) * frame_step + frame_len)
    zeros = np.zeros((padlen - slen,))
    padsignal = np.concatenate((sig, zeros))
    indices = (
        np.tile(np.arange(0, frame_len), (numframes, 1))
        + np.tile(np.arange(0, numframes * frame_step, frame_step), (frame_len, 1)).T
    )
    indices = np.array(indices, dtype=np.int32)
    frames = padsignal[indices]
    win = np.tile(winfunc(frame_len), (numframes, 1))
    return frames * win


def mfcc_energy(signal):
    emph = np.append(signal[0], signal[1:] - 0.97 * signal[:-1])
    frames = framesig(emph, 16.0, 8.0, np.hamming)
    if np.shape(frames)[1] > 32:
        warnings.warn("frame is longer than the FFT")
    pspec = 1.0 / 32 * np.square(np.absolute(np.fft.rfft(frames, 32)))
    energy = np.sum(pspec, 1)
    energy = np.where(energy == 0, np.finfo(float).eps, energy)
    feat = np.dot(pspec, get_filterbanks().T)
    feat = np.where(feat == 0, np.finfo(float).eps, feat)
    feat = dct(np.log(feat), type=2, axis=1, norm="ortho")[:, :4]
    ncoeff = feat.shape[1]
    lift = 1 + (22 / 2.0) * np.sin(np.pi * np.arange(ncoeff) / 22)
    feat = lift * feat
    feat[:, 0] = np.log(energy)
    return np.sum(feat**2) * 1e-3


@dataclass(order=True)
class Particle:
    mass: float
    position: list = field(compare=False)
    velocity: list = field(compare=False, default_factory=lambda: [0.0, 0.0])
    count: ClassVar[int] = 0

    def kinetic(self):
        return 0.5 * self.mass * sum(v**2 for v in self.velocity)


class NBody:
    G = 1.0

    def __init__(self, bodies: list[Particle], softening: float = 0.01):
        self.bodies = bodies
        self.softening = softening

    def __len__(self):
        return len(self.bodies)

    def update_system(self, dt: float) -> None:
        for body1 in self.bodies:
            fx, fy = 0.0, 0.0
            for body2 in self.bodies:
                if body1 != body2:
                    dx = body2.position[0] - body1.position[0]
                    dy = body2.position[1] - body1.position[1]
                    d = (dx**2 + dy**2 + self.softening) ** 0.5
                    fx += self.G * body2.mass * dx / d**3
                    fy += self.G * body2.mass * dy / d**3
            body1.velocity[0] += fx * dt
            body1.velocity[1] += fy * dt
        for body in self.bodies:
            body.position = [p + v * dt for p, v in zip(body.position, body.velocity)]


def nbody_energy(masses, dt):
    system = NBody([Particle(m, [math.cos(i), math.sin(2 * i)]) for i, m in enumerate(masses)])
    for _ in range(2):
        system.update_system(dt)
    return sum(b.kinetic() for b in system.bodies) + max(system.bodies).position[0] * len(system)


class Polynomial:
    def __init__(self, degree: int, coefficients) -> None:
        if len(coefficients) != degree + 1:
            raise ValueError("The number of coefficients should be equal to the degree + 1.")
        self.coefficients = list(coefficients)
        self.degree = degree

    def __add__(self, p2):
        if self.degree > p2.degree:
            c = self.coefficients[:]
            for i in range(p2.degree + 1):
                c[i] += p2.coefficients[i]
            return Polynomial(self.degree, c)
        else:
            c = p2.coefficients[:]
            for i in range(self.degree + 1):
                c[i] += self.coefficients[i]
            return Polynomial(p2.degree, c)

    def __neg__(self):
        return Polynomial(self.degree, [-c for c in self.coefficients])

    def __sub__(self, p2):
        return self + p2 * Polynomial(0, [-1])

    def __mul__(self, p2):
        c = [0] * (self.degree + p2.degree + 1)
        for i in range(self.degree + 1):
            for j in range(p2.degree + 1):
                c[i + j] += self.coefficients[i] * p2.coefficients[j]
        return Polynomial(self.degree + p2.degree, c)

    def evaluate(self, x):
        result: int | float = 0
        for i in range(self.degree + 1):
            result += self.coefficients[i] * (x**i)
        return result

    def __str__(self) -> str:
        polynomial = ""
        for i in range(self.degree, -1, -1):
            if self.coefficients[i] == 0:
                continue
            elif self.coefficients[i] > 0:
                if polynomial:
                    polynomial += " + "
            else:
                polynomial += " - "
            polynomial += str(abs(self.coefficients[i])) + ("x^" + str(i) if i > 0 else "")
        return polynomial

    def derivative(self):
        c = [0] * self.degree
        for i in range(self.degree):
            c[i] = self.coefficients[i + 1] * (i + 1)
        return Polynomial(self.degree - 1, c)

    def __eq__(self, other):
        if not isinstance(other, Polynomial):
            return False
        return self.degree == other.degree and all(
            a == b for a, b in zip(self.coefficients, other.coefficients)
        )


def polynomial_class(coefs, x):
    p = Polynomial(2, coefs)
    q = p * p - p.derivative() + (-p)
    if q == p:
        return 0.0
    return q.evaluate(x) + p.evaluate(x)


CASES = [
    Case(orbit_position, (np.array([1.2, 0.1, 0.5, 0.3, 0.9, 0.7]),)),
    Case(
        solar_elevation,
        (
            48.2,
            16.37,
            datetime(2021, 6, 21, 10, 30),
        ),
        wrt=(0, 1),
    ),
    Case(
        universal_kepler,
        (
            np.array([1.0, 0.1, 0.0]),
            np.array([0.0, 1.1, 0.1]),
            1.3,
        ),
        wrt=(0, 1, 2),
    ),
    Case(
        pv_power,
        (
            300.0,
            40.0,
            np.array([800.0, 1000.0, 200.0]),
        ),
        wrt=(0, 1, 2),
        smooth=False,
    ),
    Case(
        delta_E_srgb,
        (
            np.array([0.4, 0.5, 0.3]),
            np.array([0.35, 0.55, 0.32]),
        ),
        wrt=(0, 1),
    ),
    Case(mfcc_energy, (np.random.RandomState(0).randn(40),), tolerance=1e-5),
    Case(
        nbody_energy,
        (
            np.array([1.0, 0.5, 0.2]),
            0.05,
        ),
        wrt=(0, 1),
    ),
    Case(
        polynomial_class,
        (
            np.array([1.0, -2.0, 0.5]),
            0.7,
        ),
        wrt=(0, 1),
    ),
]
