"""Measures a finished model on images and clips that it was not trained on, and prints one row for each group.

Usage: evaluate.py MODEL.onnx DATA_DIR REPOSITORY
"""

import pathlib
import sys

import cv2
import numpy as np

from detector import LABELS, Detector
from features import read_boxes

SHOWN = 0.80


def frames(path, every=1):
    clip, number = cv2.VideoCapture(str(path)), 0
    while True:
        good, image = clip.read()
        if not good:
            return
        if number % every == 0:
            yield image
        number += 1


def bad_input(image):
    """What is hard to judge: (name, image) made of one real fire and of plain colours."""
    grey = np.repeat(image.mean(axis=2, keepdims=True), 3, axis=2).astype(np.uint8)
    wall = np.full((600, 900, 3), 190, np.uint8)
    wall[200:400, 350:620] = cv2.resize(image, (270, 200))
    yield "fire, 64 x 64", cv2.resize(image, (64, 64))
    yield "fire, 8000 x 200", cv2.resize(image, (8000, 200))
    yield "fire, upside down", image[::-1]
    yield "fire, monochrome", grey
    yield "fire, night infrared", cv2.convertScaleAbs(255 - grey // 2, alpha=0.8)
    yield "fire on a poster", wall
    yield "screen full of orange", np.full((416, 416, 3), (10, 120, 255), np.uint8)
    yield "screen full of black", np.zeros((416, 416, 3), np.uint8)


def groups(data, repository):
    found = sorted((data / "ajitesh/test/images").glob("[!n]*.jpg"))
    images = [(cv2.imread(str(file)), [b[0] for b in read_boxes(pathlib.Path(str(file).replace("/images/", "/labels/")).with_suffix(".txt"), 1, 1, {0: 0, 1: 1})]) for file in found]
    yield "small-fire-smoke, fire", [image for image, labels in images if 0 in labels]
    yield "small-fire-smoke, smoke", [image for image, labels in images if 1 in labels]
    yield "small-fire-smoke, no fire", [image for image, labels in images if 0 not in labels]
    house = list(frames(repository / "services/inference/tools/train-fire/clip/burning-house.mp4"))
    yield "burning house, frames", house
    yield "street.mp4, frames", list(frames(repository / "examples/street.mp4", 2))
    for name, image in bad_input(images[0][0] if not house else house[50]):
        yield name, [image]


def main(model, data, repository):
    detector = Detector(model)
    for name, images in groups(data, repository):
        scores = np.array([detector.scores(image) for image in images])
        shown = [f"{label} {(column >= SHOWN).mean():.2f} (median {np.median(column):.3f})" for label, column in zip(LABELS, scores.T)]
        print(f"{name:28} {len(images):4}  {'  '.join(shown)}", flush=True)


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
