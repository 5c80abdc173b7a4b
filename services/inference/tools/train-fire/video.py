"""Counts false alarms in video without fire and smoke: two samples, a second apart, that both show it at 0.80.

Usage: video.py MODEL.onnx DATA_DIR OUT_DIR. Writes OUT_DIR/scores.json and a frame of each scene with an alarm.

Footage: every clip of `footage` in sources.json once, as it is, and its photographs, none of which was trained on, as a
moving camera sees them: ten seconds each, panned, zoomed and shaken, every fourth one at night.
"""

import json
import pathlib
import sys

import cv2
import numpy as np

from detector import LABELS, REPOSITORY, Detector
from inputs import SOURCES, files_of

RATE, SECONDS, SHOWN, SEED = 1, 10, 0.80, 25
WIDE, HIGH = 640, 360


def frames_of_clip(path):
    """Frames of a clip at RATE frames a second."""
    clip = cv2.VideoCapture(str(path))
    step, due, number = max(1.0, (clip.get(cv2.CAP_PROP_FPS) or RATE) / RATE), 0.0, 0
    while True:
        good, image = clip.read()
        if not good:
            return
        if number >= due:
            due += step
            yield image
        number += 1


def panned(image, random):
    """Ten seconds of a camera that moves over the photograph, in 16:9 or 4:3 by chance."""
    height, width = image.shape[:2]
    out = (WIDE, HIGH) if random.random() < 0.7 else (480, 360)
    zoom, way = random.uniform(0.55, 0.8, 2), random.uniform(0, 1, (2, 2))

    count = RATE * SECONDS
    for number in range(count):
        part = number / (count - 1)
        size = min(width / out[0], height / out[1]) * (zoom[0] + (zoom[1] - zoom[0]) * part)
        view = np.array(out) * size
        corner = (np.array([width, height]) - view) * (way[0] + (way[1] - way[0]) * part)
        corner += random.normal(0, 0.004, 2) * width
        matrix = np.array([[size, 0, corner[0]], [0, size, corner[1]]], np.float32)
        yield cv2.warpAffine(image, matrix, out, flags=cv2.INTER_LINEAR | cv2.WARP_INVERSE_MAP, borderMode=cv2.BORDER_REFLECT)


def at_night(image, random):
    dark = (image * 0.3).astype(np.int16) + random.integers(-10, 11, image.shape, dtype=np.int16)
    return np.clip(dark, 0, 255).astype(np.uint8)


def original_of(file):
    """The photograph that Roboflow made this file of; it may have made several."""
    return file.parent.parent.parent, file.name.split(".rf.")[0]


def footage(data, about, trained):
    """(kind, name, frames) of everything; photographs in an order that mixes the collections."""
    for source in about:
        if source["kind"] != "clip":
            continue
        for file in files_of(data, source):
            yield f"clips, {source['name']}", file.name, frames_of_clip(file)
    yield "clips, street", "street.mp4", frames_of_clip(REPOSITORY / "examples/street.mp4")
    for source in about:
        if source["kind"] != "photograph":
            continue
        files = [file for file in files_of(data, source)[source.get("from", 0) :: source.get("every", 1)] if original_of(file) not in trained]
        for number, file in enumerate(files):
            random = np.random.default_rng([SEED, number])
            frames = panned(cv2.imread(str(file)), random)
            night = number % 4 == 3
            name = f"{source['name']}, {'night' if night else 'day'}"
            yield f"panned, {name}", str(file.relative_to(data)), (at_night(one, random) for one in frames) if night else frames


def alarms(scores, least, samples):
    """The samples at which an alarm begins: so many in a row that reach `least`."""
    run, found = 0, []
    for number, score in enumerate(scores):
        run = run + 1 if score >= least else 0
        if run == samples:
            found.append(number)
    return found


def row_of(kind, scenes):
    """Of all scenes of a kind, each a list of scores: hours, and alarms at the default."""
    found = [len(alarms(scores, SHOWN, RATE + 1)) for scores in scenes]
    hours = sum(map(len, scenes)) / RATE / 3600
    return f"{kind:32} {len(scenes):5} scenes {hours:6.2f} h  alarms {sum(found):4} in {sum(map(bool, found)):4} scenes  {sum(found) / hours:7.1f} an hour"


def print_table(label, kinds):
    everything = [scores for scenes in kinds.values() for scores in scenes]
    for kind, scenes in [*kinds.items(), ("all", everything)]:
        print(f"{label:5} {row_of(kind, scenes)}")
    hours = sum(map(len, everything)) / RATE / 3600
    for least in (0.5, 0.8, 0.9, 0.95, 0.97):
        rates = (sum(len(alarms(scores, least, samples)) for scores in everything) / hours for samples in (2, 3, 5))
        print(f"{label:5} at {least}: alarms an hour by two, three, five samples", *(f"{rate:.1f}" for rate in rates))


def main(model, data, out):
    detector = Detector(model)
    trained = {original_of(file) for source in SOURCES["images"] for file in files_of(data, source)[source.get("from", 0) :: source.get("every", 1)]}
    out.mkdir(parents=True, exist_ok=True)
    kinds = {label: {} for label in LABELS}
    for kind, name, frames in footage(data, SOURCES["footage"], trained):
        frames = list(frames)
        scores = np.array([detector.scores(image) for image in frames]).reshape(-1, len(LABELS))
        for label, column in zip(LABELS, scores.T):
            kinds[label].setdefault(kind, []).append(column.tolist())
            for number in alarms(column, SHOWN, RATE + 1):
                print(f"{label}: {kind}, {name}", flush=True)
                cv2.imwrite(str(out / f"{label}-{pathlib.Path(name).stem}.jpg"), frames[number])
    (out / "scores.json").write_text(json.dumps(kinds))
    for label in LABELS:
        print_table(label, kinds[label])


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
