"""The finished model as the service runs it: shape of the input, boxes, and scores by the calibration in force."""

import json
import pathlib

import numpy as np
import onnxruntime

from inputs import tensor

REPOSITORY = pathlib.Path(__file__).parents[4]
LABELS, FIRE, STRIDE = ("fire", "smoke"), 0, 16


def specification():
    return json.loads((REPOSITORY / "config/scenes.json").read_text())["detectors"]["fire-352"]


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
    def __init__(self, model, threads=1):
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(str(model), options, providers=["CPUExecutionProvider"])
        self.about = specification()
        self.shapes = self.about["input"]["shapes"]
        labels = self.about["calibration"]["labels"]
        self.curves = [np.array(labels[name]["curve"]) for name in LABELS]

    def published(self, raw, label=FIRE):
        return np.interp(raw, self.curves[label][:, 0], self.curves[label][:, 1])

    def scores(self, image):
        """The probabilities that the image shows fire, and smoke: the best published scores."""
        cells = self.session.run(["scores"], {"images": tensor(image, nearest_shape(image, self.shapes))})[0][0]
        return [float(self.published(cells[:, label].max(), label)) for label in range(len(LABELS))]

    def score(self, image):
        """The probability that the image shows fire."""
        return self.scores(image)[FIRE]

    def boxes(self, image, least=0.0, label=FIRE):
        """Boxes in parts of the image, best first: (published score, left, top, right, bottom)."""
        shape = nearest_shape(image, self.shapes)
        scores, distances = (out[0] for out in self.session.run(["scores", "distances"], {"images": tensor(image, shape)}))
        scores = scores[:, label]
        least_raw = max(self.about["calibration"]["floor"], np.interp(least, self.curves[label][:, 1], self.curves[label][:, 0]))
        kept = []
        for cell in np.argsort(-scores):
            if scores[cell] < least_raw or len(kept) == self.about["max_objects"]:
                break
            box = self.box_of(distances[cell], cell, shape)
            if all(overlap(box, other) <= self.about["nms_iou"] for _, other in kept):
                kept.append((float(self.published(scores[cell], label)), box))
        return [(score, *box) for score, box in kept]

    def box_of(self, logits, cell, shape):
        columns, bins = -(-shape[0] // STRIDE), self.about["decode"]["bins"]
        weights = np.exp(logits.reshape(4, bins) - logits.reshape(4, bins).max(axis=1, keepdims=True))
        sides = (weights * np.arange(bins)).sum(axis=1) / weights.sum(axis=1) * STRIDE
        x, y = (cell % columns + 0.5) * STRIDE, (cell // columns + 0.5) * STRIDE
        box = np.array([x - sides[0], y - sides[1], x + sides[2], y + sides[3]]) / (*shape, *shape)
        return np.clip(box, 0, 1).tolist()
