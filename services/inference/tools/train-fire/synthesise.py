"""Renders flames, smoke and look-alikes into photographs. Each function returns the image and its boxes.

Light is added in linear values with a glow, smoke covers what is behind it; afterwards `camera` applies the faults of
a camera: exposure, white balance, blur, noise, monochrome and JPEG compression.
"""

import cv2
import numpy as np

FLAME_COLOURS = np.array([[0, 0, 0], [10, 20, 120], [15, 90, 255], [60, 190, 255], [190, 250, 255]], np.float32) / 255


def noise(random, height, width, octaves=5):
    """Fractal noise in 0..1."""
    total, weight = np.zeros((height, width), np.float32), 0.0
    for octave in range(octaves):
        cells = 2 ** (octave + 2)
        grid = random.random((cells + 1, cells + 1)).astype(np.float32)
        total += cv2.resize(grid, (width, height), interpolation=cv2.INTER_CUBIC) / 2**octave
        weight += 1 / 2**octave
    return np.clip(total / weight * 1.6 - 0.3, 0, 1)


def flame_heat(random, height, width):
    """Heat of one flame, 0..1: tongues that narrow upwards and tear at their edges."""
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    x, y = x / width - 0.5, 1 - y / height
    bend = (noise(random, height, width, 3) - 0.5) * (0.15 + 0.7 * y)
    tongues = sum(
        np.clip(1 - np.abs(x + bend - random.uniform(-0.3, 0.3)) / random.uniform(0.1, 0.35), 0, 1)
        * np.clip(1 - y / random.uniform(0.5, 1), 0, 1) ** 0.6
        for _ in range(random.integers(1, 5))
    )
    torn = 0.35 + noise(random, height, width, 6)
    return np.clip(tongues * torn * 1.3 - 0.12, 0, 1)


def colour_of(heat):
    position = heat * (len(FLAME_COLOURS) - 1)
    low = np.clip(position.astype(int), 0, len(FLAME_COLOURS) - 2)
    part = (position - low)[..., None]
    return FLAME_COLOURS[low] * (1 - part) + FLAME_COLOURS[low + 1] * part


def place(random, image, smallest, largest):
    rows, columns = image.shape[:2]
    height = int(rows * random.uniform(smallest, largest))
    width = int(np.clip(height * random.uniform(0.5, 1.4), 8, columns - 1))
    return random.integers(0, rows - height + 1), random.integers(0, columns - width + 1), max(height, 8), width


def box_of(mask, top, left):
    rows, columns = np.where(mask)
    if len(rows) < 12:
        return None
    return [left + columns.min(), top + rows.min(), left + columns.max() + 1, top + rows.max() + 1]


def add_flame(random, image):
    top, left, height, width = place(random, image, 0.06, 0.75)
    heat = flame_heat(random, height, width)
    light = np.zeros_like(image)
    light[top : top + height, left : left + width] = colour_of(heat)[: image.shape[0] - top] * random.uniform(0.8, 1.3)
    glow = cv2.GaussianBlur(light, (0, 0), max(2, height / 6)) * random.uniform(0.1, 0.9)
    cover = np.zeros(image.shape[:2], np.float32)
    cover[top : top + height, left : left + width] = np.clip(heat * 1.5, 0, 1)
    result = np.clip(image * (1 - 0.8 * cover[..., None]) + light + glow, 0, 1)
    return result, box_of(heat > 0.25, top, left)


def add_smoke(random, image):
    top, left, height, width = place(random, image, 0.25, 0.9)
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    lean = random.uniform(-0.3, 0.3)
    middle = np.abs(x / width - 0.5 - lean * (0.5 - y / height)) / (0.12 + 0.38 * (1 - y / height))
    shape = np.clip(1.2 - middle, 0, 1) * np.clip(y / height * 4, 0, 1)
    density = np.clip(shape * (0.2 + noise(random, height, width, 6)) * random.uniform(0.8, 1.8), 0, 0.95)
    shade = random.uniform(0.05, 0.9) * (0.7 + 0.5 * noise(random, height, width, 5))[..., None]
    region = image[top : top + height, left : left + width]
    result = image.copy()
    result[top : top + height, left : left + width] = region * (1 - density[..., None]) + shade * density[..., None]
    return np.clip(result, 0, 1), box_of(density > 0.2, top, left)


def add_look_alike(random, image):
    """Sunsets, lamps, vests, warm light, autumn colours, fog and screens full of one colour."""
    rows, columns = image.shape[:2]
    warm = np.array([random.uniform(0, 0.25), random.uniform(0.3, 0.7), 1], np.float32)
    kind = random.integers(0, 7)
    if kind == 0:
        glow = np.linspace(random.uniform(0, 0.4), 1, rows, dtype=np.float32)[:, None, None] * warm
        image = np.clip(image * 0.5 + 0.7 * glow, 0, 1)
    if kind in (0, 1):
        light = np.zeros_like(image)
        for _ in range(random.integers(1, 6)):
            centre = (int(random.integers(0, columns)), int(random.integers(0, rows)))
            cv2.circle(light, centre, int(random.integers(2, 40)), tuple(float(v) for v in np.clip(warm + 0.4, 0, 1)), -1)
        glow = cv2.GaussianBlur(light, (0, 0), random.uniform(4, 30)) * random.uniform(0.4, 1.5)
        return np.clip(image * random.uniform(0.2, 1) + cv2.GaussianBlur(light, (0, 0), 1) + glow, 0, 1)
    if kind == 2:
        for _ in range(random.integers(1, 4)):
            top, left, height, width = place(random, image, 0.08, 0.4)
            texture = 0.6 + 0.5 * noise(random, height, width, 4)[..., None]
            image[top : top + height, left : left + width] = np.clip(warm * texture, 0, 1)
        return image
    if kind == 3:
        return np.clip(image * (warm + 0.15) * random.uniform(0.7, 1.3), 0, 1)
    if kind == 4:
        grey = image.mean(axis=2, keepdims=True)
        mask = noise(random, rows, columns, 4)[..., None] > 0.5
        return np.where(mask, np.clip(grey * warm * 1.7, 0, 1), image)
    if kind == 5:
        fog = random.uniform(0.3, 0.85) * np.linspace(random.uniform(0.4, 1), random.uniform(0.4, 1), rows)[:, None, None]
        return (image * (1 - fog) + random.uniform(0.5, 0.95) * fog).astype(np.float32)
    return np.clip(image * 0.1 + warm * random.uniform(0.5, 1), 0, 1) if random.random() < 0.3 else image


def camera(random, image):
    """What a camera makes of a scene; `image` is BGR in 0..1, the result is BGR of 8 bits."""
    image = np.clip(image ** random.uniform(0.75, 1.4) * random.uniform(0.75, 1.25), 0, 1)
    if random.random() < 0.2:
        image = image * random.uniform(0.2, 0.6)
    image = np.clip(image * random.uniform(0.88, 1.12, 3), 0, 1).astype(np.float32)
    if random.random() < 0.06:
        image = np.repeat(image.mean(axis=2, keepdims=True), 3, axis=2)
    if random.random() < 0.3:
        size = random.uniform(0.25, 0.8)
        small = cv2.resize(image, None, fx=size, fy=size, interpolation=cv2.INTER_AREA)
        image = cv2.resize(small, (image.shape[1], image.shape[0]))
    if random.random() < 0.4:
        image = image + random.normal(0, random.uniform(0.005, 0.04), image.shape).astype(np.float32)
    image = (np.clip(image, 0, 1) * 255).astype(np.uint8)
    quality = int(random.integers(25, 96))
    return cv2.imdecode(cv2.imencode(".jpg", image, [cv2.IMWRITE_JPEG_QUALITY, quality])[1], cv2.IMREAD_COLOR)
