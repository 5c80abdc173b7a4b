"""Compares shapes of the input on the images that are wider than high, all others being the same in both.

Usage: shapes.py MODEL.onnx DATA_DIR SOURCE SHAPES [SHAPES ...], such as `emergencies 416x416 416x416,544x416,736x416`.
"""

import json
import pathlib
import sys

import numpy as np

from detector import Detector, shapes_from
from features import originals

WIDE = 1.2


def main(model, data, name, candidates):
    sources = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())["images"]
    sources = [source for source in sources if source["name"] == name]
    detectors = [Detector(model, shapes_from(text)) for text in candidates]
    scores, truth = [], []
    for _, _, image, whole, _ in originals(data, sources):
        height, width = image.shape[:2]
        if width < WIDE * height or whole[0] is None:
            continue
        scores.append([detector.score(image) for detector in detectors])
        truth.append(whole[0] == 1)
    scores, truth = np.array(scores), np.array(truth)
    for text, column in zip(candidates, scores.T):
        rates = "  ".join(f"at {least} found {(column[truth] >= least).mean():.3f} false {(column[~truth] >= least).mean():.3f}" for least in (0.8, 0.5))
        print(f"{text:40} {truth.sum()} images with fire, {(~truth).sum()} without: {rates}")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), sys.argv[3], sys.argv[4:])
