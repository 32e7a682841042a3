"""Poses in the plane: a helper of programs in other modules."""

import math

TWO_PI = 2.0 * math.pi


def wrap_angle(a):
    """Wrap an angle to [-pi, pi)."""
    return (a + math.pi) % TWO_PI - math.pi


class Pose2D:
    """A planar pose; `a @ b` composes."""

    __slots__ = ("theta", "x", "y")

    def __init__(self, x=0.0, y=0.0, theta=0.0):
        self.x, self.y, self.theta = x, y, theta

    @classmethod
    def from_array(cls, a):
        return cls(*a)

    def __matmul__(self, other):
        c, s = math.cos(self.theta), math.sin(self.theta)
        return Pose2D(
            self.x + c * other.x - s * other.y,
            self.y + s * other.x + c * other.y,
            wrap_angle(self.theta + other.theta),
        )

    def inverse(self):
        c, s = math.cos(self.theta), math.sin(self.theta)
        return Pose2D(-c * self.x - s * self.y, s * self.x - c * self.y, -self.theta)

    def as_tuple(self):
        return self.x, self.y, self.theta

    def __iter__(self):
        yield self.x
        yield self.y
        yield self.theta

    def __repr__(self):
        return f"Pose2D({self.x:.3f}, {self.y:.3f}, {self.theta:.3f})"
