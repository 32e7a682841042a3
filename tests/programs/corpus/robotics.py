"""Vehicles, arms, controllers and filters, as their repositories write them."""

from __future__ import annotations

import copy
import enum
import logging
import math
import warnings
from collections import deque, namedtuple
from contextlib import contextmanager
from dataclasses import dataclass
from math import log, pi
from typing import List, Optional

import numpy as np
import numpy.linalg as la
from numpy import dot, eye, zeros
from scipy.linalg import block_diag

from programs.case import Case
from programs.planar import Pose2D

logger = logging.getLogger(__name__)


State = namedtuple("State", "x y yaw v")


class BicycleModel(object):
    """Kinematic single track model."""

    MAX_STEER = math.radians(35)

    def __init__(self, wheelbase=2.7, dt=0.1, **options):
        self.L = wheelbase
        self.dt = dt
        self.options = {"integrator": "euler", "limit": True}
        self.options.update(options)
        self.history = []

    def _derivative(self, state, accel, steer):
        return np.array(
            [
                state.v * np.cos(state.yaw),
                state.v * np.sin(state.yaw),
                state.v / self.L * np.tan(steer),
                accel,
            ]
        )

    def step(self, state, accel, steer):
        if self.options["limit"]:
            steer = max(-self.MAX_STEER, min(self.MAX_STEER, steer))
        k1 = self._derivative(state, accel, steer)
        if self.options["integrator"] == "euler":
            new = State(*(s + self.dt * k for s, k in zip(state, k1)))
        elif self.options["integrator"] == "heun":
            mid = State(*[s + self.dt * k for s, k in zip(state, k1)])
            k2 = self._derivative(mid, accel, steer)
            new = State(*[s + 0.5 * self.dt * (a + b) for s, a, b in zip(state, k1, k2)])
        else:
            raise NotImplementedError("integrator %r" % self.options["integrator"])
        self.history.append(new)
        logger.debug("step to %s", new)
        return new


def bicycle_cost(steers):
    """Distance to a goal after driving with the given steering angles."""
    model = BicycleModel(dt=0.2, integrator="heun")
    state = State(0.0, 0.0, 0.0, 3.0)
    for steer in steers:
        state = model.step(state, 0.3, steer)
    goal = (4.0, 1.0)
    path_length = 0.0
    for a, b in zip(model.history[:-1], model.history[1:]):
        path_length += math.hypot(b.x - a.x, b.y - a.y)
    return (state.x - goal[0]) ** 2 + (state.y - goal[1]) ** 2 + 0.1 * path_length


@dataclass
class DHLink:
    a: float
    alpha: float
    d: float
    theta: float = 0.0
    offset: float = 0.0
    kind: str = "revolute"

    def matrix(self, q: Optional[float] = None) -> np.ndarray:
        theta, d = self.theta, self.d
        if self.kind == "revolute":
            theta = theta + (q if q is not None else 0.0) + self.offset
        elif self.kind == "prismatic":
            d += q
        else:
            raise ValueError(f"unknown joint kind {self.kind!r}")
        ct, st = np.cos(theta), np.sin(theta)
        ca, sa = np.cos(self.alpha), np.sin(self.alpha)
        return np.array(
            [
                [ct, -st * ca, st * sa, self.a * ct],
                [st, ct * ca, -ct * sa, self.a * st],
                [0, sa, ca, d],
                [0, 0, 0, 1],
            ]
        )


class SerialArm:
    def __init__(self, links: List[DHLink], base: Optional[np.ndarray] = None):
        self.links = links
        self.base = np.eye(4) if base is None else base

    @property
    def n(self) -> int:
        return len(self.links)

    def fkine(self, q, return_all=False):
        assert len(q) == self.n, f"need {self.n} joint values"
        T = self.base
        frames = [T]
        for link, qi in zip(self.links, q):
            T = T @ link.matrix(qi)
            frames.append(T)
        return frames if return_all else T


ARM = SerialArm(
    [
        DHLink(0.4, math.pi / 2, 0.3),
        DHLink(0.5, 0, 0.0, offset=0.1),
        DHLink(0.0, 0.0, 0.1, kind="prismatic"),
    ]
)


def arm_reach(q):
    frames = ARM.fkine(q, return_all=True)
    tip = frames[-1][:3, 3]
    penalty = sum(max(0.0, 0.1 - T[2, 3]) ** 2 for T in frames)
    return np.linalg.norm(tip - np.array([0.5, 0.5, 0.5])) ** 2 + penalty


class PID:
    """A PID controller with output limits and anti windup."""

    def __init__(self, Kp=1.0, Ki=0.0, Kd=0.0, setpoint=0.0, output_limits=(None, None)):
        self.Kp, self.Ki, self.Kd = Kp, Ki, Kd
        self.setpoint = setpoint
        self._min_output, self._max_output = output_limits
        self.reset()

    def reset(self):
        self._integral = 0.0
        self._last_input = None
        self._last_output = None

    @property
    def tunings(self):
        return self.Kp, self.Ki, self.Kd

    @tunings.setter
    def tunings(self, value):
        self.Kp, self.Ki, self.Kd = value

    def __call__(self, input_, dt=0.1):
        if dt <= 0:
            raise ValueError("dt has to be positive, is {}".format(dt))
        error = self.setpoint - input_
        d_input = input_ - (self._last_input if self._last_input is not None else input_)
        self._integral += self.Ki * error * dt
        self._integral = _clamp(self._integral, (self._min_output, self._max_output))
        out = self.Kp * error + self._integral - self.Kd * d_input / dt
        out = _clamp(out, (self._min_output, self._max_output))
        self._last_input = input_
        self._last_output = out
        return out


def _clamp(value, limits):
    lower, upper = limits
    if value is None:
        return None
    elif (upper is not None) and (value > upper):
        return upper
    elif (lower is not None) and (value < lower):
        return lower
    return value


def pid_tracking(gains, steps):
    pid = PID(setpoint=1.0, output_limits=(-5, 5))
    pid.tunings = gains["Kp"], gains["Ki"], gains["Kd"]
    y, cost = 0.0, 0.0
    for k in range(steps):
        u = pid(y)
        y += 0.1 * (-y + u)
        cost += abs(pid.setpoint - y) * 0.1
    return cost


def pose_chain(odometry):
    poses = [Pose2D()]
    for step in odometry:
        poses.append(poses[-1] @ Pose2D.from_array(step))
    loop = poses[0].inverse() @ poses[-1]
    ex, ey, eth = loop.as_tuple()
    x, y, _ = poses[1]
    return ex**2 + ey**2 + 2 * eth**2 + x * y


class Mode(enum.Enum):
    IDLE = 0
    HOVER = 1
    TRACK = 2


class IntMode(enum.IntEnum):
    LOW = 1
    HIGH = 3


def quad_thrust(state, gain, mode):
    """Thrust that depends on the flight mode."""
    gains = {Mode.IDLE: 0.0, Mode.HOVER: 1.0, Mode.TRACK: 2.5}
    if mode not in gains:
        raise KeyError(mode.name)
    z, vz, ref = state
    k = gains[mode]
    if mode is Mode.IDLE:
        return 0.0
    thrust = 9.81 + k * gain * (ref - z) - gain * vz * IntMode.HIGH
    if mode == Mode.TRACK and thrust > 0:
        thrust *= 1 + 0.01 * mode.value
    return thrust


class LowPass:
    def __init__(self, alpha, size=3):
        self.alpha = alpha
        self.window = deque(maxlen=size)
        self.value = None

    def update(self, x):
        self.window.append(x)
        med = sorted(self.window)[len(self.window) // 2]
        if self.value is None:
            self.value = med
        else:
            self.value = self.alpha * med + (1 - self.alpha) * self.value
        return self.value


def filtered_energy(samples, alpha):
    f = LowPass(alpha)
    out = [f.update(s) for s in samples]
    return np.mean(np.square(out))


def reshape_z(z, dim_z, ndim):
    """ensure z is a (dim_z, 1) shaped vector"""
    z = np.atleast_2d(z)
    if z.shape[1] == dim_z:
        z = z.T
    if z.shape != (dim_z, 1):
        raise ValueError("z must be convertible to shape ({}, 1)".format(dim_z))
    if ndim == 1:
        z = z[:, 0]
    if ndim == 0:
        z = z[0, 0]
    return z


class KalmanFilter(object):
    def __init__(self, dim_x, dim_z, dim_u=0):
        if dim_x < 1:
            raise ValueError("dim_x must be 1 or greater")
        if dim_z < 1:
            raise ValueError("dim_z must be 1 or greater")
        self.dim_x = dim_x
        self.dim_z = dim_z
        self.dim_u = dim_u
        self.x = zeros((dim_x, 1))
        self.P = eye(dim_x)
        self.Q = eye(dim_x)
        self.B = None
        self.F = eye(dim_x)
        self.H = zeros((dim_z, dim_x))
        self.R = eye(dim_z)
        self._alpha_sq = 1.0
        self.z = np.array([[None] * self.dim_z]).T
        self.K = np.zeros((dim_x, dim_z))
        self.y = zeros((dim_z, 1))
        self.S = np.zeros((dim_z, dim_z))
        self._I = np.eye(dim_x)
        self.x_prior = self.x.copy()
        self.P_prior = self.P.copy()
        self._log_likelihood = 0.0
        self.inv = np.linalg.inv

    def predict(self, u=None, B=None, F=None, Q=None):
        if B is None:
            B = self.B
        if F is None:
            F = self.F
        if Q is None:
            Q = self.Q
        elif np.isscalar(Q):
            Q = eye(self.dim_x) * Q
        if B is not None and u is not None:
            self.x = dot(F, self.x) + dot(B, u)
        else:
            self.x = dot(F, self.x)
        self.P = self._alpha_sq * dot(dot(F, self.P), F.T) + Q
        self.x_prior = self.x.copy()
        self.P_prior = self.P.copy()

    def update(self, z, R=None, H=None):
        if z is None:
            self.z = np.array([[None] * self.dim_z]).T
            self.y = zeros((self.dim_z, 1))
            return
        if R is None:
            R = self.R
        elif np.isscalar(R):
            R = eye(self.dim_z) * R
        if H is None:
            z = reshape_z(z, self.dim_z, self.x.ndim)
            H = self.H
        self.y = z - dot(H, self.x)
        PHT = dot(self.P, H.T)
        self.S = dot(H, PHT) + R
        self.SI = self.inv(self.S)
        self.K = PHT.dot(self.SI)
        self.x = self.x + dot(self.K, self.y)
        I_KH = self._I - dot(self.K, H)
        self.P = dot(dot(I_KH, self.P), I_KH.T) + dot(dot(self.K, R), self.K.T)
        self.z = copy.deepcopy(z)
        self._log_likelihood += self._gauss()

    def _gauss(self):
        y = self.y.flatten()
        return float(-0.5 * (y @ self.SI @ y + log(la.det(2 * pi * self.S))))

    @property
    def log_likelihood(self):
        return self._log_likelihood


def kf_loglik(zs, q, r):
    kf = KalmanFilter(dim_x=2, dim_z=1)
    kf.F = np.array([[1.0, 1.0], [0.0, 1.0]])
    kf.H = np.array([[1.0, 0.0]])
    kf.P *= 10.0
    kf.Q = q * np.array([[0.25, 0.5], [0.5, 1.0]])
    for i, z in enumerate(zs):
        kf.predict()
        if i == 2:
            kf.update(None)
            continue
        kf.update(z, R=r)
    return kf.log_likelihood


@contextmanager
def symmetric(P):
    yield (P + P.T) / 2.0


def information_gain(A):
    with symmetric(A @ A.T + np.eye(2)) as S:
        L = la.cholesky(S)
        logdet = 2 * np.log(np.diag(L)).sum()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sign, logdet2 = la.slogdet(S)
    if sign <= 0:
        warnings.warn("not positive definite", RuntimeWarning)
    big = block_diag(S, 2 * np.eye(1))
    return logdet + logdet2**2 + la.det(big)


CASES = [
    Case(bicycle_cost, (np.array([0.1, 0.12, -0.05, 0.2]),)),
    Case(arm_reach, (np.array([0.3, -0.4, 0.2]),)),
    Case(
        pid_tracking,
        (
            {"Kp": 1.5, "Ki": 0.4, "Kd": 0.05},
            20,
        ),
    ),
    Case(pose_chain, (np.array([[0.5, 0.1, 0.2], [0.4, -0.1, 0.3], [0.3, 0.2, -0.1]]),)),
    Case(
        quad_thrust,
        (
            np.array([0.1, 0.2, 0.9]),
            0.3,
            Mode.TRACK,
        ),
        wrt=(0, 1),
    ),
    Case(
        filtered_energy,
        (
            np.array([1.0, 1.4, 0.2, 2.0, 1.1, 0.7]),
            0.4,
        ),
        wrt=(0, 1),
    ),
    Case(
        kf_loglik,
        (
            np.array([1.0, 2.1, 2.9, 4.2]),
            0.3,
            0.5,
        ),
        wrt=(0, 1, 2),
    ),
    Case(information_gain, (np.array([[1.0, 0.2], [0.1, 0.8]]),)),
]
