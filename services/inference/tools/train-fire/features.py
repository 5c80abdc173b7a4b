"""Runs the backbone over every image and writes what the heads are trained on.

Usage: features.py backbone.onnx DATA_DIR OUT_DIR SHARD SHARDS. Nothing but numbers leaves this step.
"""

import json
import pathlib
import sys

import cv2
import numpy as np
import onnxruntime
import torch
from torch.nn import functional

from backbone import MAPS
from heads import STRIDE, pooled
from inputs import SIZE, SOURCES, files_of, tensor
from synthesise import add_flame, add_look_alike, add_smoke, camera

GRID = SIZE // STRIDE


def seen(session, image):
    """The maps of three strides, flattened, and what the image head sees."""
    inputs = {"images": tensor(image, (SIZE, SIZE))}
    fine, middle, coarse, wide = (torch.from_numpy(value) for value in session.run(MAPS, inputs))
    maps = torch.cat([functional.max_pool2d(fine, 2).flatten(1), middle.flatten(1), coarse.flatten(1)], 1)
    return maps[0].numpy().astype(np.float16), pooled(middle, wide)[0].numpy()


def read_boxes(path, width, height, labels):
    """Boxes of a YOLO label file, by our labels: 0 fire, 1 smoke."""
    found = []
    for line in path.read_text().split("\n") if path.exists() else []:
        values = line.split()
        if len(values) != 5 or int(values[0]) not in labels:
            continue
        x, y, w, h = (float(value) for value in values[1:])
        found.append([labels[int(values[0])], (x - w / 2) * width, (y - h / 2) * height, (x + w / 2) * width, (y + h / 2) * height])
    return found


def originals(data, sources):
    """Every photograph with its source, labels of the whole image (None: unknown) and boxes."""
    for source in sources:
        for file in files_of(data, source)[source.get("from", 0) :: source.get("every", 1)]:
            image = cv2.imread(str(file))
            if image is None:
                continue
            if "labels" not in source:
                yield source, file, image, source["whole"], []
                continue
            text = pathlib.Path(str(file).replace("/images/", "/labels/")).with_suffix(".txt")
            if not text.exists():
                continue
            height, width = image.shape[:2]
            boxes = read_boxes(text, width, height, {int(k): v for k, v in source["labels"].items()})
            unlabelled = source.get("unlabelled", [])
            yield source, file, image, [None if label in unlabelled else shown(label, boxes) for label in (0, 1)], boxes


def shown(label, boxes):
    return int(any(box[0] == label for box in boxes))


def to_input(boxes, image):
    height, width = image.shape[:2]
    factors = np.array([SIZE / width, SIZE / height] * 2)
    return [[box[0], *(np.array(box[1:]) * factors).tolist()] for box in boxes]


def varied(random, image, whole, boxes):
    """A crop, turned over, through another camera. A label of which only parts remain is unknown."""
    height, width = image.shape[:2]
    rows, columns = (int(side * random.uniform(0.5 if boxes or whole == [0, 0] else 0.8, 1)) for side in (height, width))
    top, left = random.integers(0, height - rows + 1), random.integers(0, width - columns + 1)
    image = image[top : top + rows, left : left + columns]
    kept, cut = [], set()
    for label, x1, y1, x2, y2 in boxes:
        box = [np.clip(x1 - left, 0, columns), np.clip(y1 - top, 0, rows), np.clip(x2 - left, 0, columns), np.clip(y2 - top, 0, rows)]
        area = (box[2] - box[0]) * (box[3] - box[1])
        if area > 0.3 * (x2 - x1) * (y2 - y1):
            kept.append([label, *box])
        elif area > 0:
            cut.add(label)
    labels = [value if not value else 1 if shown(label, kept) or not boxes else None if label in cut else 0 for label, value in enumerate(whole)]
    if random.random() < 0.5:
        image = image[:, ::-1]
        kept = [[label, columns - x2, y1, columns - x1, y2] for label, x1, y1, x2, y2 in kept]
    return camera(random, image.astype(np.float32) / 255), labels, kept


def synthetic(random, image):
    """Flames and smoke, or look-alikes, in a photograph without fire."""
    picture = cv2.resize(image, (SIZE, SIZE)).astype(np.float32) / 255
    if random.random() < 0.4:
        picture = picture * random.uniform(0.08, 0.5)
    boxes = []
    if random.random() < 0.45:
        return camera(random, add_look_alike(random, picture)), [0, 0], boxes
    if random.random() < 0.5:
        picture, box = add_smoke(random, picture)
        boxes += [[1, *box]] if box else []
    if random.random() < 0.75 or not boxes:
        for _ in range(random.integers(1, 3)):
            picture, box = add_flame(random, picture)
            boxes += [[0, *box]] if box else []
    return camera(random, picture), [shown(label, boxes) for label in (0, 1)], boxes


def examples(data, sources, shard, shards):
    """(row, image): every photograph as it is, its variants, and some with rendered flames, smoke and look-alikes."""
    for number, (source, file, image, whole, boxes) in enumerate(originals(data, sources)):
        if number % shards != shard:
            continue
        random = np.random.default_rng(number)
        about = {"source": source["name"], "file": str(file.relative_to(data)), "held_out": source.get("held_out", False)}
        row = lambda kind, labels, kept, picture: {**about, "kind": kind, "whole": labels, "boxes": to_input(kept, picture)}
        yield row("plain", whole, boxes, image), image
        for _ in range(source.get("variants", 0)):
            other, labels, kept = varied(random, image, whole, boxes)
            yield row("varied", labels, kept, other), other
        if whole == [0, 0] and random.random() < source.get("synthetic", 0):
            drawn, labels, kept = synthetic(random, image)
            yield row("synthetic", labels, kept, drawn), drawn


def main(backbone, data, out, shard, shards):
    cv2.setNumThreads(1)
    torch.set_num_threads(1)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    session = onnxruntime.InferenceSession(backbone, options, providers=["CPUExecutionProvider"])
    maps, wholes, rows = [], [], []
    for row, image in examples(data, SOURCES["images"], shard, shards):
        flat, whole = seen(session, image)
        maps.append(flat)
        wholes.append(whole)
        rows.append(row)
        if len(rows) % 500 == 0:
            print(shard, len(rows), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / f"maps-{shard}.npy", np.stack(maps))
    np.save(out / f"pooled-{shard}.npy", np.stack(wholes))
    (out / f"rows-{shard}.json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main(sys.argv[1], pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]), int(sys.argv[4]), int(sys.argv[5]))
