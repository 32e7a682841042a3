"""Control: recursions over a horizon, controllers that hold state, simulated plants."""

import math
from dataclasses import dataclass

import numpy as np

from programs.case import Case


def lqr_cost(A, B, Q, R, x0):
    horizon = 5
    P = Q
    gains = []
    for _ in range(horizon):
        K = np.linalg.solve(R + B.T @ P @ B, B.T @ P @ A)
        P = Q + A.T @ P @ (A - B @ K)
        gains.append(K)
    gains.reverse()

    x = x0
    cost = 0.0
    for K in gains:
        u = -K @ x
        cost += x @ Q @ x + u @ R @ u
        x = A @ x + B @ u
    return cost + x @ Q @ x


class PID:
    def __init__(self, kp, ki, kd, dt, limit=5.0):
        self.kp = kp
        self.ki = ki
        self.kd = kd
        self.dt = dt
        self.limit = limit
        self.integral = 0.0
        self.previous = None

    def update(self, error):
        self.integral += error * self.dt
        if self.previous is None:
            derivative = 0.0
        else:
            derivative = (error - self.previous) / self.dt
        self.previous = error
        u = self.kp * error + self.ki * self.integral + self.kd * derivative
        if u > self.limit:
            u = self.limit
        elif u < -self.limit:
            u = -self.limit
        return u


def pid_tracking_error(gains, setpoint):
    dt = 0.1
    pid = PID(gains[0], gains[1], gains[2], dt)
    position, velocity = 0.0, 0.0
    error = 0.0
    for k in range(10):
        u = pid.update(setpoint - position)
        velocity += dt * (u - 0.5 * velocity - position)
        position += dt * velocity
        error += (setpoint - position) ** 2 * (k + 1) * dt
    return error


def pendulum(state, torque, mass, length, dt=0.05):
    theta, omega = state
    alpha = (torque - mass * 9.81 * length * np.sin(theta)) / (mass * length**2)
    omega = omega + dt * alpha
    return np.array([theta + dt * omega, omega])


def mpc_rollout_cost(controls, mass, length):
    state = np.array([0.3, 0.0])
    cost = 0.0
    for torque in controls:
        state = pendulum(state, torque, mass, length)
        theta, omega = state
        cost = cost + (1 - np.cos(theta)) + 0.1 * omega**2 + 0.01 * torque**2
    return cost + 10 * state[0] ** 2


def receding_horizon(x0, a, b, steps=3, horizon=4, sweeps=3):
    """Plans by projected gradient descent, applies the first control, plans again."""
    x = x0
    total = 0.0
    plan = np.zeros(horizon)
    for _ in range(steps):
        for _ in range(sweeps):
            states = [x]
            for u in plan:
                states.append(a * states[-1] + b * u)
            costate = 2 * states[-1]
            gradient = np.zeros(horizon)
            for t in range(horizon - 1, -1, -1):
                gradient[t] = b * costate + 0.2 * plan[t]
                costate = 2 * states[t] + a * costate
            plan = np.clip(plan - 0.05 * gradient, -1.0, 1.0)
        total += x**2 + 0.1 * plan[0] ** 2
        x = a * x + b * plan[0]
        plan = np.concatenate([plan[1:], [0.0]])
    return total


def thermostat(outside, power, loss):
    """A switch with hysteresis: the mode is a word, and changes with the temperature."""
    temperature = 19.0
    mode = "heat"
    energy = 0.0
    discomfort = 0.0
    for t_out in outside:
        if mode == "heat" and temperature > 21.0:
            mode = "idle"
        elif mode == "idle" and temperature < 19.5:
            mode = "heat"
        heating = power if mode == "heat" else 0.0
        temperature += 0.2 * (loss * (t_out - temperature) + heating)
        energy += heating * 0.2
        discomfort += (temperature - 20.0) ** 2
    return energy + 0.5 * discomfort


def observer_feedback(L, K, x0):
    A = np.array([[1.0, 0.1], [-0.3, 0.9]])
    b = np.array([0.0, 0.1])
    c = np.array([1.0, 0.0])
    x = x0
    x_hat = np.zeros_like(x0)
    log = np.empty((6, 2))
    for k in range(6):
        log[k] = x - x_hat
        u = -K @ x_hat
        innovation = c @ x - c @ x_hat
        x = A @ x + b * u
        x_hat = A @ x_hat + b * u + L * innovation
    return np.sum(log**2) + np.sum(x**2)


def iterative_learning(reference, gain, leak):
    """The same trial over and over: the input is corrected in place by the shifted error."""
    n = len(reference)
    u = np.zeros(n)
    for trial in range(4):
        y = np.zeros(n)
        for k in range(1, n):
            y[k] = 0.6 * y[k - 1] + 0.5 * u[k - 1]
        e = reference - y
        u *= 1 - leak
        u[:-1] += gain / (trial + 1) * e[1:]
    return np.sum(e**2) + 0.01 * np.sum(u * u)


def cart_pole_rhs(s, force, mp, length):
    _, v, th, om = s
    sin, cos = np.sin(th), np.cos(th)
    total = 1.0 + mp
    temp = (force + mp * length * om**2 * sin) / total
    om_dot = (9.81 * sin - cos * temp) / (length * (4.0 / 3.0 - mp * cos**2 / total))
    v_dot = temp - mp * length * om_dot * cos / total
    return np.array([v, v_dot, om, om_dot])


def cart_pole_rk4(gain, mp, length):
    s = np.array([0.0, 0.1, 0.2, -0.1])
    h = 0.05
    effort = 0.0
    for _ in range(6):
        force = np.clip(gain @ s, -8.0, 8.0)
        k1 = cart_pole_rhs(s, force, mp, length)
        k2 = cart_pole_rhs(s + h / 2 * k1, force, mp, length)
        k3 = cart_pole_rhs(s + h / 2 * k2, force, mp, length)
        k4 = cart_pole_rhs(s + h * k3, force, mp, length)
        s = s + h / 6 * (k1 + 2 * k2 + 2 * k3 + k4)
        effort += force**2
    return s @ s + 0.001 * effort


@dataclass
class Bicycle:
    x: float
    y: float
    heading: float
    wheelbase: float = 1.2

    def drive(self, speed, steering, dt):
        self.x += speed * math.cos(self.heading) * dt
        self.y += speed * math.sin(self.heading) * dt
        self.heading += speed / self.wheelbase * math.tan(steering) * dt


def pure_pursuit(waypoints, speed, lookahead):
    car = Bicycle(0.0, 0.1, 0.0)
    target = 0
    deviation = 0.0
    for _ in range(8):
        while target < len(waypoints) - 1:
            dx = waypoints[target, 0] - car.x
            dy = waypoints[target, 1] - car.y
            if math.sqrt(dx * dx + dy * dy) > lookahead:
                break
            target += 1
        dx = waypoints[target, 0] - car.x
        dy = waypoints[target, 1] - car.y
        angle = math.atan2(dy, dx) - car.heading
        steering = math.atan(2 * car.wheelbase * math.sin(angle) / math.hypot(dx, dy))
        car.drive(speed, steering, 0.2)
        deviation += (car.y - waypoints[target, 1]) ** 2
    return deviation + 0.1 * car.heading**2


def biquad_loop_shaping(b, a, reference):
    """A plant with delay under a filter in direct form II transposed."""
    z1 = z2 = 0.0
    plant = 0.0
    delayed = [0.0, 0.0]
    cost = 0.0
    for r in reference:
        e = r - plant
        u = b[0] * e + z1
        z1 = b[1] * e - a[0] * u + z2
        z2 = b[2] * e - a[1] * u
        delayed.append(u)
        plant = 0.8 * plant + 0.2 * delayed.pop(0)
        cost += e * e + 0.05 * u**2
    return cost


CASES = [
    Case(
        lqr_cost,
        (
            np.array([[1.0, 0.1], [0.2, 0.95]]),
            np.array([[0.0], [0.5]]),
            np.diag([1.0, 0.5]),
            np.array([[0.3]]),
            np.array([1.0, -0.5]),
        ),
        wrt=(0, 1, 2, 3, 4),
        complex_step=True,
    ),
    Case(pid_tracking_error, (np.array([3.0, 0.8, 0.3]), 1.0), wrt=(0, 1), complex_step=True),
    Case(
        mpc_rollout_cost,
        (np.array([0.5, -0.2, 0.1, 0.4, -0.3]), 1.2, 0.7),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(receding_horizon, (1.5, 0.9, 0.4), wrt=(0, 1, 2)),
    Case(thermostat, (np.array([5.0, 4.0, 6.0, 3.0, 5.0, 7.0, 6.5, 4.0]), 8.0, 0.3), wrt=(0, 1, 2)),
    Case(
        observer_feedback,
        (np.array([0.5, 0.3]), np.array([0.8, 0.4]), np.array([1.0, -0.4])),
        wrt=(0, 1, 2),
    ),
    Case(iterative_learning, (np.array([0.0, 0.5, 0.8, 1.0, 0.7]), 0.9, 0.05), wrt=(0, 1, 2)),
    Case(
        cart_pole_rk4,
        (np.array([0.5, 1.0, 12.0, 3.0]), 0.15, 0.6),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        pure_pursuit,
        (np.array([[0.5, 0.0], [1.0, 0.2], [1.7, 0.5], [2.5, 0.4]]), 1.3, 0.45),
        wrt=(0, 1),
    ),
    Case(
        biquad_loop_shaping,
        (
            np.array([0.6, 0.2, 0.1]),
            np.array([-0.3, 0.1]),
            np.array([1.0, 1.0, 0.5, 0.5, 0.0, 0.2]),
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
]
