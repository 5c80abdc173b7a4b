"""The finished model as the service runs it: shape of the input, boxes, and scores by the calibration in force."""

import json
import pathlib

import cv2
import numpy as np
import onnxruntime

from features import MEAN, STD

REPOSITORY = pathlib.Path(__file__).parents[4]
FIRE, STRIDE = 0, 16


def specification():
    return json.loads((REPOSITORY / "config/scenes.json").read_text())["detectors"]["fire-416"]


def scaled(image, shape):
    """Stretched to the shape; averaged when it shrinks, as the decoders of the service do."""
    height, width = image.shape[:2]
    shrinks = width * height > shape[0] * shape[1]
    return cv2.resize(image, tuple(shape), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)


def tensor(image, shape):
    return ((scaled(image, shape).astype(np.float32) - MEAN) / STD).transpose(2, 0, 1)[None]


def overlap(one, other):
    """Intersection over union of two boxes (left, top, right, bottom)."""
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    if width <= 0 or height <= 0:
        return 0.0
    area = lambda box: (box[2] - box[0]) * (box[3] - box[1])
    return width * height / (area(one) + area(other) - width * height)


def nearest_shape(image, shapes):
    """The shape whose aspect is nearest to that of the image, by their ratio."""
    height, width = image.shape[:2]
    return min(shapes, key=lambda shape: abs(np.log(width / height) - np.log(shape[0] / shape[1])))


class Detector:
    def __init__(self, model, shapes=None, threads=1):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.about = specification()
        self.shapes = shapes or self.about["input"]["shapes"]
        self.curve = np.array(self.about["calibration"]["labels"]["fire"]["curve"])

    def published(self, raw):
        return np.interp(raw, self.curve[:, 0], self.curve[:, 1])

    def raw_score(self, image):
        """The best raw score of fire in the image."""
        return float(self.session.run(["scores"], {"images": tensor(image, nearest_shape(image, self.shapes))})[0][0, :, FIRE].max())

    def score(self, image):
        """The probability that the image shows fire: the best published score."""
        return float(self.published(self.raw_score(image)))

    def boxes(self, image, least=0.0):
        """Boxes of fire in parts of the image, best first: (published score, left, top, right, bottom)."""
        shape = nearest_shape(image, self.shapes)
        scores, distances = (out[0] for out in self.session.run(["scores", "distances"], {"images": tensor(image, shape)}))
        scores = scores[:, FIRE]
        least_raw = max(self.about["calibration"]["floor"], np.interp(least, self.curve[:, 1], self.curve[:, 0]))
        kept = []
        for cell in np.argsort(-scores):
            if scores[cell] < least_raw or len(kept) == self.about["max_objects"]:
                break
            box = self.box_of(distances[cell], cell, shape)
            if all(overlap(box, other) <= self.about["nms_iou"] for _, other in kept):
                kept.append((float(self.published(scores[cell])), box))
        return [(score, *box) for score, box in kept]

    def box_of(self, logits, cell, shape):
        columns, bins = -(-shape[0] // STRIDE), self.about["decode"]["bins"]
        weights = np.exp(logits.reshape(4, bins) - logits.reshape(4, bins).max(axis=1, keepdims=True))
        sides = (weights * np.arange(bins)).sum(axis=1) / weights.sum(axis=1) * STRIDE
        x, y = (cell % columns + 0.5) * STRIDE, (cell // columns + 0.5) * STRIDE
        box = np.array([x - sides[0], y - sides[1], x + sides[2], y + sides[3]]) / (*shape, *shape)
        return np.clip(box, 0, 1).tolist()


def shapes_from(text):
    """`416x416,736x416` as shapes; an empty text means those of the service."""
    return [tuple(int(side) for side in shape.split("x")) for shape in text.split(",")] if text else None
