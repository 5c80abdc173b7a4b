"""Renders examples/fire.jpg: a fire and its smoke in examples/street.jpg. No flame in it is real.

Usage: render-example.py OUT.jpg [SEED]
"""

import sys

import cv2
import numpy as np

from detector import REPOSITORY
from synthesise import colour_of, flame_heat, noise

SEED = 11
TOP, LEFT, HIGH, WIDE = 150, 40, 330, 300


def outline():
    """Narrow at the foot and at the tips, and soft at the sides."""
    y, x = np.mgrid[0:HIGH, 0:WIDE].astype(np.float32)
    up, aside = 1 - y / HIGH, np.abs(x / WIDE - 0.5)
    reach = 0.5 * np.clip(0.62 + 1.6 * up, 0, 1) * np.clip(1.3 - up, 0, 1)
    return np.clip((reach - aside) * 7, 0, 1) * np.clip(up * 12, 0, 1)


def smoke_above(random, image):
    height, width = TOP + 60, WIDE + 180
    y, x = np.mgrid[0:height, 0:width].astype(np.float32)
    centre = width / 2 + (1 - y / height) * 70
    shape = np.clip(1.1 - np.abs(x - centre) / (40 + 130 * (1 - y / height)), 0, 1) * np.clip((height - y) / 60, 0, 1)
    density = np.clip(1.4 * shape * (0.35 + noise(random, height, width, 6)), 0, 0.85)[..., None]
    shade = 0.16 + 0.2 * noise(random, height, width, 5)[..., None]
    left = max(0, LEFT - 60)
    part = image[0:height, left : left + width]
    image[0:height, left : left + width] = part * (1 - density) + shade * density


def main(out, seed):
    random = np.random.default_rng(seed)
    image = cv2.imread(str(REPOSITORY / "examples/street.jpg")).astype(np.float32) / 255
    smoke_above(random, image)
    heat = np.maximum.reduce([flame_heat(random, HIGH, WIDE) for _ in range(3)]) * outline() * 0.9
    light, cover = np.zeros_like(image), np.zeros(image.shape[:2], np.float32)
    light[TOP : TOP + HIGH, LEFT : LEFT + WIDE] = colour_of(heat)
    cover[TOP : TOP + HIGH, LEFT : LEFT + WIDE] = np.clip(heat * 1.5, 0, 1)
    glow = cv2.GaussianBlur(light, (0, 0), 30) * 0.7 + cv2.GaussianBlur(light, (0, 0), 6) * 0.3
    image = np.clip(image * (1 - 0.9 * cover[..., None]) + light + glow, 0, 1)
    cv2.imwrite(out, (image * 255).astype(np.uint8), [cv2.IMWRITE_JPEG_QUALITY, 85])


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else SEED)
