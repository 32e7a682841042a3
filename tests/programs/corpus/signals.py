"""Signals: filters, transforms and alignments."""

import math

import numpy as np

from programs.case import Case


def fir_filter(signal, taps):
    out = np.zeros(len(signal))
    for n in range(len(signal)):
        for k, tap in enumerate(taps):
            if n - k < 0:
                break
            out[n] += tap * signal[n - k]
    return np.sum(out**2)


def iir_filter(signal, b, a):
    y = np.empty_like(signal)
    for n in range(len(signal)):
        y[n] = b[0] * signal[n]
        for k in range(1, min(len(b), n + 1)):
            y[n] += b[k] * signal[n - k] - a[k - 1] * y[n - k]
    return y[-1] + np.sum(y[:-1] * y[1:])


class Biquad:
    """Transposed direct form II."""

    def __init__(self, coefficients):
        self.b0, self.b1, self.b2, self.a1, self.a2 = coefficients
        self.s1 = 0.0
        self.s2 = 0.0

    def __call__(self, x):
        y = self.b0 * x + self.s1
        self.s1 = self.b1 * x - self.a1 * y + self.s2
        self.s2 = self.b2 * x - self.a2 * y
        return y


def biquad_cascade(signal, sections):
    filters = [Biquad(section) for section in sections]
    energy = 0.0
    for x in signal:
        for each in filters:
            x = each(x)
        energy += x**2
    return energy


def fft(re, im):
    """By recursion on even and odd samples, real and imaginary parts apart."""
    n = len(re)
    if n == 1:
        return re, im
    even_re, even_im = fft(re[::2], im[::2])
    odd_re, odd_im = fft(re[1::2], im[1::2])
    angle = -2 * np.pi * np.arange(n // 2) / n
    c, s = np.cos(angle), np.sin(angle)
    t_re, t_im = c * odd_re - s * odd_im, c * odd_im + s * odd_re
    return (
        np.concatenate([even_re + t_re, even_re - t_re]),
        np.concatenate([even_im + t_im, even_im - t_im]),
    )


def power_spectrum_entropy(signal):
    re, im = fft(signal, np.zeros_like(signal))
    power = re**2 + im**2
    p = power / power.sum()
    return -np.sum(p * np.log(p))


def goertzel(signal, frequency):
    coefficient = 2 * np.cos(2 * np.pi * frequency)
    before, last = 0.0, 0.0
    for x in signal:
        before, last = last, x + coefficient * last - before
    return last**2 + before**2 - coefficient * last * before


def savitzky_golay(signal, smoothing):
    """Local parabolas, fitted by least squares with weights."""
    half = 2
    x = np.arange(-half, half + 1)
    A = np.stack([x**0, x, x**2], axis=1).astype(float)
    w = np.exp(-smoothing * x**2)
    smooth = signal.copy()
    for i in range(half, len(signal) - half):
        window = signal[i - half : i + half + 1]
        fit = np.linalg.solve(A.T @ (w[:, None] * A), A.T @ (w * window))
        smooth[i] = fit[0]
    return np.sum((smooth - signal) ** 2) + np.sum(np.diff(smooth, 2) ** 2)


def levinson_durbin(correlation):
    order = len(correlation) - 1
    a = np.zeros(order + 1)
    a[0] = 1.0
    error = correlation[0]
    for m in range(1, order + 1):
        acc = correlation[m]
        for i in range(1, m):
            acc += a[i] * correlation[m - i]
        reflection = -acc / error
        previous = a.copy()
        for i in range(1, m):
            a[i] = previous[i] + reflection * previous[m - i]
        a[m] = reflection
        error *= 1 - reflection**2
    return error + np.sum(a * np.arange(order + 1.0))


def least_mean_squares(signal, desired, rate):
    taps = 3
    w = np.zeros(taps)
    total = 0.0
    for n in range(taps - 1, len(signal)):
        window = signal[n - taps + 1 : n + 1][::-1]
        e = desired[n] - w @ window
        w += rate * e * window
        total += e * e
    return total + w @ w


def haar_in_place(signal, threshold):
    """Forward transform, soft threshold on the details, and back."""
    x = signal.copy()
    n = len(x)
    while n > 1:
        sums = (x[:n:2] + x[1:n:2]) / math.sqrt(2)
        details = (x[:n:2] - x[1:n:2]) / math.sqrt(2)
        x[: n // 2] = sums
        x[n // 2 : n] = details
        n //= 2
    for i in range(1, len(x)):
        magnitude = abs(x[i])
        x[i] = 0.0 if magnitude <= threshold else np.sign(x[i]) * (magnitude - threshold)
    while n < len(x):
        sums, details = x[:n].copy(), x[n : 2 * n].copy()
        x[: 2 * n : 2] = (sums + details) / math.sqrt(2)
        x[1 : 2 * n : 2] = (sums - details) / math.sqrt(2)
        n *= 2
    return np.sum((x - 0.5 * signal) ** 2)


def soft_dtw(a, b, gamma):
    n, m = len(a), len(b)
    R = np.full((n + 1, m + 1), 1e6)
    R[0, 0] = 0.0
    for i in range(1, n + 1):
        for j in range(1, m + 1):
            options = np.array([R[i - 1, j], R[i, j - 1], R[i - 1, j - 1]])
            low = np.min(options)
            soft = low - gamma * np.log(np.sum(np.exp(-(options - low) / gamma)))
            R[i, j] = (a[i - 1] - b[j - 1]) ** 2 + soft
    return R[n, m]


def envelope_follower(signal, attack, release):
    level, envelope = 0.0, []
    for x in np.abs(signal):
        rate = attack if x > level else release
        level += rate * (x - level)
        envelope.append(level)
    return np.stack(envelope) @ np.arange(1.0, len(signal) + 1)


def automatic_gain(signal, target, speed):
    gain = 1.0
    total = 0.0
    for n, x in enumerate(signal, start=1):
        y = gain * x
        gain *= np.exp(speed * (target - y**2))
        if not 0.2 < gain < 5.0:
            gain = 1.0
            continue
        total += y / n
    return total


def phase_locked_loop(signal, bandwidth, frequency):
    phase, integral = 0.0, frequency
    locked = np.zeros(len(signal))
    for n in range(len(signal)):
        error = signal[n] * np.cos(phase)
        integral = integral + bandwidth**2 * error
        phase = phase + integral + 2 * bandwidth * error
        locked[n] = np.sin(phase)
    return np.dot(locked, signal)


def polyphase_upsampling(signal, kernel):
    factor = 2
    stuffed = np.zeros(factor * len(signal))
    stuffed[::factor] = signal
    phases = [kernel[p::factor] for p in range(factor)]
    out = np.zeros_like(stuffed)
    for p, phase in enumerate(phases):
        for k in range(len(phase)):
            shifted = stuffed[: len(stuffed) - k * factor : factor]
            out[k * factor + p :: factor] += phase[k] * shifted
    return np.sum(np.tanh(out))


def zero_crossings(signal, offset):
    """Where the shifted signal rises through zero, between the samples."""
    places = []
    rising = np.stack([signal[:-1], signal[1:]], axis=1)
    for n, (before, after) in enumerate(rising):
        if before + offset < 0 <= after + offset:
            places.append(n + (before + offset) / (before - after))
    if not places:
        return 0.0
    periods = [places[k + 1] - places[k] for k in range(len(places) - 1)]
    return sum(places) + 2 * sum(period**2 for period in periods)


def comb_reverb(signal, feedback, damping):
    """A ring buffer, written and read at the same place."""
    ring = np.zeros(3)
    low, position = 0.0, 0
    out = np.zeros(len(signal))
    for n, x in enumerate(signal):
        delayed = ring[position]
        low = (1 - damping) * delayed + damping * low
        ring[position] = x + feedback * low
        position = (position + 1) % len(ring)
        out[n] = x + delayed
    return np.sum(out**2)


def overlap_add(signal, window, gain):
    size, hop = len(window), len(window) // 2
    out = np.zeros(len(signal))
    for start in range(0, len(signal) - size + 1, hop):
        frame = signal[start : start + size] * window
        loudness = np.sqrt(np.mean(frame**2) + 1e-3)
        out[start : start + size] += frame * window * loudness**gain
    return out


def lattice_filter(signal, reflections):
    backward = [0.0] * (len(reflections) + 1)
    total = 0.0
    for x in signal:
        forward, delayed = x, list(backward)
        backward[0] = x
        for m, k in enumerate(reflections):
            backward[m + 1] = delayed[m] + k * forward
            forward = forward + k * delayed[m]
        total += forward * backward[-1]
    return total


SIGNAL = np.array([0.3, 1.1, -0.4, -0.9, 0.2, 0.7, 1.3, -0.6])

CASES = [
    Case(fir_filter, (SIGNAL[:6], np.array([0.5, 0.3, -0.2])), wrt=(0, 1)),
    Case(
        iir_filter,
        (SIGNAL[:6], np.array([0.4, 0.2, 0.1]), np.array([-0.5, 0.3])),
        wrt=(0, 1, 2),
    ),
    Case(
        biquad_cascade,
        (SIGNAL[:5], np.array([[0.5, 0.2, 0.1, -0.4, 0.2], [0.8, -0.3, 0.1, 0.2, 0.1]])),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(power_spectrum_entropy, (SIGNAL,), complex_step=True),
    Case(goertzel, (SIGNAL[:6], 0.17), wrt=(0, 1), complex_step=True),
    Case(savitzky_golay, (SIGNAL, 0.2), wrt=(0, 1)),
    Case(levinson_durbin, (np.array([2.0, 0.9, 0.3, -0.4]),)),
    Case(
        least_mean_squares,
        (SIGNAL[:7], np.array([0.1, 0.5, 0.7, -0.3, -0.8, 0.1, 0.6]), 0.2),
        wrt=(0, 1, 2),
    ),
    Case(haar_in_place, (SIGNAL, 0.3), wrt=(0, 1)),
    Case(
        soft_dtw,
        (np.array([0.1, 0.9, 0.4, -0.3]), np.array([0.2, 0.7, 0.6]), 0.5),
        wrt=(0, 1, 2),
    ),
    Case(envelope_follower, (SIGNAL[:6], 0.6, 0.2), wrt=(0, 1, 2)),
    Case(automatic_gain, (SIGNAL[:6], 0.5, 0.4), wrt=(0, 1, 2), complex_step=True),
    Case(phase_locked_loop, (SIGNAL[:5], 0.2, 0.9), wrt=(0, 1, 2)),
    Case(
        polyphase_upsampling,
        (np.array([0.4, -0.8, 1.1, 0.3]), np.array([0.5, 0.3, -0.2, 0.7])),
        wrt=(0, 1),
    ),
    Case(
        zero_crossings,
        (np.array([-0.5, 0.7, 0.9, -0.3, -0.8, 0.4, 0.6, -0.9, 0.2]), 0.05),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(comb_reverb, (SIGNAL, 0.6, 0.25), wrt=(0, 1, 2)),
    Case(overlap_add, (SIGNAL, np.array([0.3, 0.9, 0.8, 0.2]), 0.7), wrt=(0, 1, 2)),
    Case(
        lattice_filter,
        (SIGNAL[:5], np.array([0.4, -0.3, 0.2])),
        wrt=(0, 1),
        complex_step=True,
    ),
]
