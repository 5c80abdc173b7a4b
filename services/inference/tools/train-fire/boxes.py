"""Average precision of boxes of fire at an overlap of 0.5, and frames of clips that show fire.

Usage: boxes.py MODEL.onnx DATA_DIR CLIPS_DIR. CLIPS_DIR holds house6.mp4 and house6.xml of the FURG data set.
"""

import pathlib
import re
import sys

import cv2
import numpy as np

from detector import FIRE, Detector, overlap
from features import read_boxes
from inputs import SOURCES, files_of

EVERY = 6  # of the clip's 30 frames a second: five a second, as the service samples
SAMPLE = slice(2, None, 5)  # of the images


def annotated_frames(clip, xml):
    """(frame, boxes of fire in parts of the image) of an OpenCV annotation file."""
    boxes = {}
    for block in re.split(r"<frameNumber>", xml.read_text())[1:]:
        rows = re.findall(r"\s(-?\d+) (-?\d+) (\d+) (\d+)</_>", block)
        boxes[int(block.split("<")[0])] = [[int(value) for value in row] for row in rows]
    capture, number = cv2.VideoCapture(str(clip)), 0
    while True:
        good, image = capture.read()
        if not good:
            return
        height, width = image.shape[:2]
        if number % EVERY == 0 and number in boxes:
            yield image, [[x / width, y / height, (x + w) / width, (y + h) / height] for x, y, w, h in boxes[number]]
        number += 1


def labelled_images(data, source):
    labels = {int(key): value for key, value in source["labels"].items()}
    for file in files_of(data, source)[slice(None) if source.get("held_out") else SAMPLE]:
        text = pathlib.Path(str(file).replace("/images/", "/labels/")).with_suffix(".txt")
        yield cv2.imread(str(file)), [box[1:] for box in read_boxes(text, 1, 1, labels) if box[0] == FIRE]


def average_precision(judged, wanted):
    """Area below the curve of precision over recall, with precision made monotonic."""
    if not wanted:
        return float("nan")
    judged = sorted(judged, reverse=True)
    right = np.cumsum([good for _, good in judged]) if judged else np.array([])
    precision = right / np.arange(1, len(judged) + 1)
    precision = np.maximum.accumulate(precision[::-1])[::-1]
    recall = np.concatenate([[0], right / wanted])
    return float((np.diff(recall) * precision).sum())


def judge(detected, truth, least):
    """(score, whether it is right) of each box: the best overlap that no better box has taken."""
    free, judged = list(truth), []
    for score, *box in detected:
        best = max(free, key=lambda other: overlap(box, other), default=None)
        good = best is not None and overlap(box, best) >= least
        if good:
            free.remove(best)
        judged.append((score, good))
    return judged


def measure(name, detector, images):
    judged, loose, wanted, shown, with_fire = [], [], 0, [0, 0, 0], 0
    for image, truth in images:
        detected = detector.boxes(image)
        judged += judge(detected, truth, 0.5)
        loose += judge(detected, truth, 0.1)
        wanted += len(truth)
        with_fire += bool(truth)
        best = detected[0][0] if detected else 0
        shown = [count + (bool(truth) and best >= least) for count, least in zip(shown, (0.8, 0.5, 0.25))]
    parts = " ".join(f"{count}/{with_fire} at {least}" for count, least in zip(shown, (0.8, 0.5, 0.25)))
    print(f"{name:22} {wanted:5} boxes  AP@0.5 {average_precision(judged, wanted):.3f}  AP@0.1 {average_precision(loose, wanted):.3f}  images with fire found: {parts}", flush=True)


def main(model, data, clips):
    detector = Detector(model)
    measure("clip house6", detector, annotated_frames(clips / "house6.mp4", clips / "house6.xml"))
    for source in SOURCES["images"]:
        if "labels" in source:
            note = "" if source.get("held_out") else ", trained"
            measure(source["name"] + note, detector, labelled_images(data, source))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
