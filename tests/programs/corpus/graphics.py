"""Graphics: rays, rasters, curves, noise, meshes and the geometry under them."""

import math
from functools import reduce

import numpy as np

from programs.case import Case

LIGHT = np.array([0.4, 0.7, -0.6])
PERMUTATION = [7, 2, 9, 4, 0, 11, 5, 14, 1, 8, 15, 3, 12, 6, 10, 13]


def ray_spheres(origin, direction, centers, radii):
    """Shade of the nearest sphere that the ray meets."""
    direction = direction / np.sqrt(np.sum(direction**2))
    nearest = np.inf
    hit = None
    for i in range(len(radii)):
        oc = origin - centers[i]
        b = np.dot(oc, direction)
        c = np.dot(oc, oc) - radii[i] ** 2
        disc = b * b - c
        if disc < 0:
            continue
        t = -b - np.sqrt(disc)
        if 1e-4 < t < nearest:
            nearest = t
            hit = i
    if hit is None:
        return 0.0
    point = origin + nearest * direction
    normal = (point - centers[hit]) / radii[hit]
    diffuse = max(np.dot(normal, LIGHT), 0.0)
    return 0.1 + 0.9 * diffuse + 0.05 * nearest


def scene_distance(p, radius, height):
    ball = np.sqrt(np.sum((p - np.array([0.1, 0.2, 3.0])) ** 2)) - radius
    floor = p[1] + height
    k = 0.3
    h = min(max(0.5 + 0.5 * (floor - ball) / k, 0.0), 1.0)
    return floor * (1 - h) + ball * h - k * h * (1 - h)


def ray_march(direction, radius, height):
    direction = direction / np.linalg.norm(direction)
    p = np.zeros(3)
    depth = 0.0
    steps = 0
    while steps < 20:
        d = scene_distance(p, radius, height)
        if d < 1e-3:
            break
        depth += d
        if depth > 10.0:
            return -1.0
        p = p + d * direction
        steps += 1
    return depth + 0.1 * p[1] ** 2


def edge(a, b, x, y):
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])


def rasterise(triangles, colors):
    """Flat triangles with soft edges into a depth buffer of 4 by 4 pixels."""
    size = 4
    image = np.zeros((size, size))
    zbuffer = np.full((size, size), np.inf)
    for triangle, color in zip(triangles, colors):
        a, b, c = triangle
        area = edge(a, b, c[0], c[1])
        for row in range(size):
            for col in range(size):
                x, y = col + 0.5, row + 0.5
                w0 = edge(b, c, x, y) / area
                w1 = edge(c, a, x, y) / area
                w2 = 1 - w0 - w1
                if w0 < 0 or w1 < 0 or w2 < 0:
                    continue
                depth = w0 * a[2] + w1 * b[2] + w2 * c[2]
                if depth < zbuffer[row, col]:
                    zbuffer[row, col] = depth
                    image[row, col] = color * np.tanh(5 * min(w0, w1, w2)) / depth
    return np.sum(image**2)


def look_at(eye, target, up):
    forward = target - eye
    forward = forward / np.linalg.norm(forward)
    right = np.array(
        [
            forward[1] * up[2] - forward[2] * up[1],
            forward[2] * up[0] - forward[0] * up[2],
            forward[0] * up[1] - forward[1] * up[0],
        ]
    )
    right /= np.linalg.norm(right)
    return np.stack([right, up, forward])


def reprojection_error(eye, focal, points, observed):
    view = look_at(eye, np.array([0.0, 0.0, 5.0]), np.array([0.0, 1.0, 0.0]))
    error, seen = 0.0, 0
    for point, pixel in zip(points, observed):
        x, y, z = view @ (point - eye)
        if z <= 0.1:
            continue
        r2 = (x * x + y * y) / (z * z)
        distortion = 1 + 0.1 * r2 - 0.02 * r2**2
        error += (focal * distortion * x / z - pixel[0]) ** 2
        error += (focal * distortion * y / z - pixel[1]) ** 2
        seen += 1
    return error / max(seen, 1)


def quaternion_product(p, q):
    pw, px, py, pz = p
    qw, qx, qy, qz = q
    return (
        pw * qw - px * qx - py * qy - pz * qz,
        pw * qx + px * qw + py * qz - pz * qy,
        pw * qy - px * qz + py * qw + pz * qx,
        pw * qz + px * qy - py * qx + pz * qw,
    )


def axis_angle(axis, angle):
    s = math.sin(angle / 2)
    return (math.cos(angle / 2), *(s * a for a in axis))


def rotate_by_all(angles, v):
    axes = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.6, 0.8))
    q = reduce(quaternion_product, map(axis_angle, axes, angles))
    w, *xyz = q
    conjugate = (w, *[-each for each in xyz])
    _, x, y, z = quaternion_product(quaternion_product(q, (0.0, *v)), conjugate)
    return x + 2 * y - z * z


def bezier_length(control, samples=5):
    """De Casteljau's scheme in place, for points along the curve."""
    length = 0.0
    last = control[0].copy()
    for i in range(1, samples + 1):
        t = i / samples
        points = control.copy()
        n = len(points)
        for level in range(1, n):
            for j in range(n - level):
                points[j] = (1 - t) * points[j] + t * points[j + 1]
        length += np.sqrt(np.sum((points[0] - last) ** 2))
        last = points[0]
    return length


def catmull_rom(knots, values, queries):
    total = 0.0
    for q in queries:
        segment = 1
        while segment < len(knots) - 3 and q > knots[segment + 1]:
            segment += 1
        t0, t1 = knots[segment], knots[segment + 1]
        t = (q - t0) / (t1 - t0)
        p0, p1, p2, p3 = values[segment - 1 : segment + 3]
        m1 = 0.5 * (p2 - p0)
        m2 = 0.5 * (p3 - p1)
        a = 2 * p1 - 2 * p2 + m1 + m2
        b = -3 * p1 + 3 * p2 - 2 * m1 - m2
        total += ((a * t + b) * t + m1) * t + p1
    return total


def b_spline(t, control, knots, degree=2):
    """De Boor's algorithm on a list that is updated from its end."""
    k = degree
    while k < len(control) - 1 and knots[k + 1] <= t:
        k += 1
    d = [control[j + k - degree] for j in range(degree + 1)]
    for r in range(1, degree + 1):
        for j in range(degree, r - 1, -1):
            left = knots[j + k - degree]
            alpha = (t - left) / (knots[j + 1 + k - r] - left)
            d[j] = (1.0 - alpha) * d[j - 1] + alpha * d[j]
    return d[degree] ** 2


def fade(t):
    return t * t * t * (t * (t * 6 - 15) + 10)


def lerp(a, b, t):
    return a + t * (b - a)


def gradient_at(ix, iy, x, y):
    h = PERMUTATION[(PERMUTATION[ix % 16] + iy) % 16]
    u, v = (x, y) if h & 4 else (y, x)
    return (u if h & 1 else -u) + (2 * v if h & 2 else -2 * v)


def perlin(x, y):
    ix, iy = int(np.floor(x)), int(np.floor(y))
    fx, fy = x - ix, y - iy
    bottom = lerp(gradient_at(ix, iy, fx, fy), gradient_at(ix + 1, iy, fx - 1, fy), fade(fx))
    top = lerp(
        gradient_at(ix, iy + 1, fx, fy - 1), gradient_at(ix + 1, iy + 1, fx - 1, fy - 1), fade(fx)
    )
    return lerp(bottom, top, fade(fy))


def fractal_noise(x, y, persistence):
    value, amplitude, frequency = 0.0, 1.0, 1.0
    for _ in range(3):
        value += amplitude * perlin(x * frequency, y * frequency)
        amplitude *= persistence
        frequency *= 2.1
    return value


def sample_texture(texture, u, v):
    """Bilinear, clamped at the border."""
    height, width = texture.shape
    out = np.empty_like(u)
    for i in range(u.size):
        x = u[i] * (width - 1)
        y = v[i] * (height - 1)
        x0 = min(max(int(x), 0), width - 2)
        y0 = min(max(int(y), 0), height - 2)
        fx, fy = x - x0, y - y0
        row0 = texture[y0, x0] * (1 - fx) + texture[y0, x0 + 1] * fx
        row1 = texture[y0 + 1, x0] * (1 - fx) + texture[y0 + 1, x0 + 1] * fx
        out[i] = row0 * (1 - fy) + row1 * fy
    return out


def vertex_normals(vertices, faces):
    """Face normals summed at the vertices, where faces share vertices."""
    normals = np.zeros_like(vertices)
    a, b, c = vertices[faces[:, 0]], vertices[faces[:, 1]], vertices[faces[:, 2]]
    e1, e2 = b - a, c - a
    n = np.stack(
        [
            e1[:, 1] * e2[:, 2] - e1[:, 2] * e2[:, 1],
            e1[:, 2] * e2[:, 0] - e1[:, 0] * e2[:, 2],
            e1[:, 0] * e2[:, 1] - e1[:, 1] * e2[:, 0],
        ],
        axis=1,
    )
    for corner in range(3):
        np.add.at(normals, faces[:, corner], n)
    normals /= np.linalg.norm(normals, axis=1, keepdims=True)
    return np.sum(normals @ LIGHT * vertices[:, 2])


def clipped_area(polygon, x_max):
    """A polygon cut at a vertical line by Sutherland and Hodgman, then its area."""
    kept = []
    previous = polygon[-1]
    for current in polygon:
        inside, was_inside = current[0] <= x_max, previous[0] <= x_max
        if inside != was_inside:
            t = (x_max - previous[0]) / (current[0] - previous[0])
            kept.append((x_max, previous[1] + t * (current[1] - previous[1])))
        if inside:
            kept.append((current[0], current[1]))
        previous = current
    area = 0.0
    for (x0, y0), (x1, y1) in zip(kept, kept[1:] + kept[:1]):
        area += x0 * y1 - x1 * y0
    return 0.5 * area


def arm_tip(angles, lengths, target):
    """Forward kinematics by accumulated planar transforms."""
    frames = [np.eye(3)]
    for angle, length in zip(angles, lengths):
        c, s = np.cos(angle), np.sin(angle)
        step = np.eye(3)
        step[:2, :2] = [[c, -s], [s, c]]
        step[0, 2] = length * c
        step[1, 2] = length * s
        frames.append(frames[-1] @ step)
    tip = frames[-1][:2, 2]
    bend = sum(abs(angle) for angle in angles)
    return np.sum((tip - target) ** 2) + 0.05 * bend


SPHERES = np.array([[0.3, 0.1, 4.0], [2.0, 2.0, 3.0], [0.1, -0.2, 6.0]])
TRIANGLES = np.array(
    [
        [[0.2, 0.1, 2.0], [3.9, 0.6, 2.5], [0.7, 3.8, 3.0]],
        [[3.8, 3.9, 1.5], [0.3, 2.7, 3.5], [3.3, 0.2, 2.2]],
    ]
)
POINTS = np.array([[0.5, 0.4, 5.0], [-0.7, 0.3, 4.0], [0.2, -0.6, 6.0], [0.1, 0.2, -9.0]])
TETRAHEDRON = np.array([[0.0, 0.1, 0.0], [1.0, 0.0, 0.2], [0.1, 1.1, 0.1], [0.3, 0.2, 1.0]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])

CASES = [
    Case(
        ray_spheres,
        (np.zeros(3), np.array([0.05, 0.03, 1.0]), SPHERES, np.array([0.8, 0.5, 1.0])),
        wrt=(0, 1, 2, 3),
        complex_step=True,
    ),
    Case(ray_march, (np.array([0.05, -0.1, 1.0]), 0.7, 1.1), wrt=(0, 1, 2)),
    Case(rasterise, (TRIANGLES, np.array([0.8, 1.3])), wrt=(0, 1)),
    Case(
        reprojection_error,
        (np.array([0.2, 0.0, -1.0]), 1.5, POINTS, 0.2 * POINTS[:, :2]),
        wrt=(0, 1, 2, 3),
    ),
    Case(rotate_by_all, ((0.3, -0.7, 1.1), np.array([0.5, -1.0, 0.7])), wrt=(0, 1)),
    Case(
        bezier_length,
        (np.array([[0.0, 0.0], [1.0, 2.0], [3.0, 1.5], [4.0, -1.0]]),),
        complex_step=True,
    ),
    Case(
        catmull_rom,
        (
            np.array([0.0, 1.0, 2.2, 3.0, 4.1, 5.0]),
            np.array([0.3, 1.0, -0.5, 0.8, 0.2, -0.4]),
            np.array([1.3, 2.7, 3.9]),
        ),
        wrt=(0, 1, 2),
        complex_step=True,
    ),
    Case(
        b_spline,
        (
            1.3,
            np.array([0.5, -1.0, 2.0, 0.7]),
            np.array([0.0, 0.0, 0.0, 1.0, 2.0, 2.0, 2.0]),
        ),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(fractal_noise, (1.37, 2.61, 0.55), wrt=(0, 1, 2)),
    Case(
        sample_texture,
        (
            np.sin(np.arange(12.0)).reshape(3, 4),
            np.array([0.1, 0.5, 0.83, 0.95]),
            np.array([0.2, 0.9, 0.33, 0.6]),
        ),
        wrt=(0, 1, 2),
    ),
    Case(vertex_normals, (TETRAHEDRON, FACES)),
    Case(
        clipped_area,
        (np.array([[0.0, 0.0], [2.0, 0.3], [2.5, 1.8], [0.4, 1.5]]), 1.7),
        wrt=(0, 1),
        complex_step=True,
    ),
    Case(
        arm_tip,
        (np.array([0.4, -0.6, 0.9]), np.array([1.0, 0.8, 0.5]), np.array([1.2, 0.9])),
        wrt=(0, 1, 2),
    ),
]
