"""Counts false alarms in video without fire: two samples, a second apart, that both show fire at 0.80.

Usage: video.py MODEL.onnx DATA_DIR OUT_DIR [SHAPES]. Writes OUT_DIR/alarms.json and one frame of each alarm.

Footage: every clip of `footage` in sources.json once, as it is, and its photographs, none of them trained on, as a
moving camera sees them: ten seconds each, panned, zoomed and shaken, every fourth one at night.
"""

import json
import pathlib
import sys

import cv2
import numpy as np

from detector import REPOSITORY, Detector, shapes_from
from features import files_of

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


def footage(data, about):
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
        for number, file in enumerate(files_of(data, source)[source.get("from", 0) :: source.get("every", 1)]):
            random = np.random.default_rng([SEED, number])
            frames = panned(cv2.imread(str(file)), random)
            night = number % 4 == 3
            name = f"{source['name']}, {'night' if night else 'day'}"
            yield f"panned, {name}", str(file.relative_to(data)), (at_night(one, random) for one in frames) if night else frames


def alarms_in(detector, frames):
    """Number of frames, of frames that show fire, and the frame with which each alarm begins."""
    count, shown, run, alarms = 0, 0, 0, []
    for image in frames:
        score = detector.score(image)
        count += 1
        if score < SHOWN:
            run = 0
            continue
        shown += 1
        run += 1
        if run == RATE + 1:
            alarms.append(image)
    return count, shown, alarms


def main(model, data, out, shapes):
    detector = Detector(model, shapes)
    about = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())["footage"]
    out.mkdir(parents=True, exist_ok=True)
    rows, written = {}, []
    for kind, name, frames in footage(data, about):
        count, shown, alarms = alarms_in(detector, frames)
        row = rows.setdefault(kind, {"scenes": 0, "frames": 0, "shown": 0, "alarms": 0, "scenes_with_alarm": 0})
        for key, value in (("scenes", 1), ("frames", count), ("shown", shown), ("alarms", len(alarms)), ("scenes_with_alarm", bool(alarms))):
            row[key] += value
        for number, image in enumerate(alarms):
            written.append({"kind": kind, "name": name})
            cv2.imwrite(str(out / f"alarm-{len(written):03}.jpg"), image)
    rows["all"] = {key: sum(row[key] for row in rows.values()) for key in next(iter(rows.values()))}
    (out / "alarms.json").write_text(json.dumps({"rows": rows, "alarms": written}, indent=2))
    for kind, row in rows.items():
        hours = row["frames"] / RATE / 3600
        print(f"{kind:32} {row['scenes']:5} scenes {hours:6.2f} h  frames that show fire {row['shown']:5}  alarms {row['alarms']:4} in {row['scenes_with_alarm']:4} scenes  {row['alarms'] / hours:7.1f} an hour")


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), shapes_from(sys.argv[4] if len(sys.argv) > 4 else ""))
