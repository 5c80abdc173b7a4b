"""Found rates of images with fire by their brightness, by the size of the fire, and while the camera moves.

Usage: groups.py MODEL.onnx DATA_DIR. One image in twelve of what was trained on and has boxes: the rates
compare groups, and do not say how much is found elsewhere.
"""

import pathlib
import sys

import cv2
import numpy as np

from detector import FIRE, Detector
from features import originals
from inputs import SOURCES

EVERY = 12
DARK = 70  # mean brightness, of 255


def size_of(boxes, image):
    """How much of the image the largest fire covers."""
    share = max((box[3] - box[1]) * (box[4] - box[2]) for box in boxes if box[0] == FIRE) / (image.shape[0] * image.shape[1])
    return "over 10 %" if share >= 0.1 else "1 to 10 %" if share >= 0.01 else "under 1 %"


def moving(image, random):
    """A second, five frames of it, in which the camera pans over the middle of the image; blurred by its movement."""
    height, width = image.shape[:2]
    size, way = np.array([width, height]) * 0.85, random.uniform(-1, 1, 2)
    for part in np.linspace(-1, 1, 5):
        corner = (np.array([width, height]) - size) / 2 * (1 + way * part) + random.normal(0, 0.004, 2) * width
        matrix = np.array([[1, 0, corner[0]], [0, 1, corner[1]]], np.float32)
        view = cv2.warpAffine(image, matrix, tuple(size.astype(int)), flags=cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REFLECT)
        yield cv2.blur(view, (1 + width // 160, 1))


def main(model, data):
    detector = Detector(model)
    sources = [{**source, "every": source.get("every", 1) * EVERY} for source in SOURCES["images"] if "labels" in source and not source.get("held_out")]
    groups = {}
    for number, (_, _, image, whole, boxes) in enumerate(originals(data, sources)):
        if whole[0] != 1:
            continue
        score = detector.score(image)
        names = ["light" if image.mean() >= DARK else "dark", f"largest fire {size_of(boxes, image)}", "camera still"]
        for name in names:
            groups.setdefault(name, []).append(score)
        moved = [detector.score(view) for view in moving(image, np.random.default_rng(number))]
        groups.setdefault("camera moving, frames", []).extend(moved)
        groups.setdefault("camera moving, all frames of a second", []).append(min(moved))
    for name, scores in sorted(groups.items()):
        scores = np.array(scores)
        print(f"{name:40} {len(scores):5}  at 0.80 {(scores >= 0.8).mean():.3f}  at 0.50 {(scores >= 0.5).mean():.3f}")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]))
