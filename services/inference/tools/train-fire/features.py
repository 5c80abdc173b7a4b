"""Runs the frozen backbone over every image and writes what the heads are trained on.

Usage: features.py DATA_DIR OUT_DIR SHARD SHARDS. Nothing but numbers leaves this step.
"""

import hashlib
import json
import pathlib
import sys

import cv2
import numpy as np
import onnx
import onnxruntime

from synthesise import add_flame, add_look_alike, add_smoke, boxes_of_mask, camera, flame_coloured

SIZE, GRID = 416, 26
BACKBONE = pathlib.Path(__file__).parents[2] / "models" / "nanodet-416.onnx"
TAPS = ["v49", "v79", "v118"]  # 128 channels of stride 8, 256 of stride 16, 512 of stride 32
MEAN = np.array([103.53, 116.28, 123.675], np.float32)
STD = np.array([57.375, 57.12, 58.395], np.float32)


def open_backbone(threads=1):
    model = onnx.load(BACKBONE)
    del model.graph.output[:]
    model.graph.output.extend(onnx.helper.make_tensor_value_info(name, 1, None) for name in TAPS)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    return onnxruntime.InferenceSession(model.SerializeToString(), options)


def run(session, image):
    """Features of one BGR image: stride 8 is reduced to 16 by the greatest of four."""
    pixels = (cv2.resize(image, (SIZE, SIZE)).astype(np.float32) - MEAN) / STD
    fine, middle, coarse = session.run(None, {"images": pixels.transpose(2, 0, 1)[None]})
    fine = fine[0].reshape(128, GRID, 2, GRID, 2).max(axis=(2, 4))
    return np.concatenate([fine.ravel(), middle.ravel(), coarse.ravel()]).astype(np.float16)


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


def files_of(data, source):
    """The files of a source in order of their paths. Raises when one is missing, new or different."""
    files = sorted(file for pattern in source["images"] for file in data.glob(pattern))
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(data)}\n" for file in files]
    if hashlib.sha256("".join(lines).encode()).hexdigest() != source["sha256"]:
        raise SystemExit(f"{source['name']}: {len(files)} files of {source['files']} found, or some differ from those that were used")
    return files


def originals(data, sources):
    """Every photograph with its source, labels of the whole image (None: unknown) and boxes."""
    for source in sources:
        for file in files_of(data, source)[:: source.get("every", 1)]:
            image = cv2.imread(str(file))
            if image is None:
                continue
            height, width = image.shape[:2]
            if "labels" in source:
                labels = {int(k): v for k, v in source["labels"].items()}
                boxes = read_boxes(pathlib.Path(str(file).replace("/images/", "/labels/")).with_suffix(".txt"), width, height, labels)
                yield source, file, image, [int(any(box[0] == label for box in boxes)) for label in (0, 1)], boxes
            else:
                yield source, file, image, source["whole"], []


def scaled(boxes, image):
    height, width = image.shape[:2]
    factors = np.array([SIZE / width, SIZE / height] * 2)
    return [[box[0], *(np.array(box[1:]) * factors).tolist()] for box in boxes]


def varied(random, image, boxes):
    """A crop, turned over, through another camera."""
    height, width = image.shape[:2]
    part = random.uniform(0.65, 1)
    rows, columns = int(height * part), int(width * part)
    top, left = random.integers(0, height - rows + 1), random.integers(0, width - columns + 1)
    image = image[top : top + rows, left : left + columns]
    kept = []
    for label, x1, y1, x2, y2 in boxes:
        box = [np.clip(x1 - left, 0, columns), np.clip(y1 - top, 0, rows), np.clip(x2 - left, 0, columns), np.clip(y2 - top, 0, rows)]
        if (box[2] - box[0]) * (box[3] - box[1]) > 0.3 * (x2 - x1) * (y2 - y1):
            kept.append([label, *box])
    if random.random() < 0.5:
        image = image[:, ::-1]
        kept = [[label, columns - x2, y1, columns - x1, y2] for label, x1, y1, x2, y2 in kept]
    return camera(random, image.astype(np.float32) / 255), kept


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
    return camera(random, picture), [int(any(box[0] == label for box in boxes)) for label in (0, 1)], boxes


def examples(data, sources, shard, shards):
    for number, (source, file, image, whole, boxes) in enumerate(originals(data, sources)):
        if number % shards != shard:
            continue
        random = np.random.default_rng(number)
        about = {"source": source["name"], "file": str(file.relative_to(data)), "held_out": source.get("held_out", False)}
        weak = whole[0] == 1 and not boxes and "labels" not in source
        if weak:
            boxes = [[0, *box] for box in boxes_of_mask(flame_coloured(image))]
        yield {**about, "kind": "plain", "whole": whole, "weak": weak, "boxes": scaled(boxes, image)}, image
        if source.get("held_out"):
            continue
        if whole[0] == 1 and random.random() < source.get("varied", 0.5):
            other, kept = varied(random, image, boxes)
            yield {**about, "kind": "varied", "whole": whole, "weak": weak, "boxes": scaled(kept, other)}, other
        if whole == [0, 0] and random.random() < source.get("synthetic", 0):
            drawn, labels, kept = synthetic(random, image)
            yield {**about, "kind": "synthetic", "whole": labels, "weak": False, "boxes": scaled(kept, drawn)}, drawn


def main(data, out, shard, shards):
    sources = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())["images"]
    session = open_backbone()
    vectors, rows = [], []
    for row, image in examples(data, sources, shard, shards):
        vectors.append(run(session, image))
        rows.append(row)
        if len(rows) % 50 == 0:
            print(shard, len(rows), flush=True)
    out.mkdir(parents=True, exist_ok=True)
    np.save(out / f"features-{shard}.npy", np.stack(vectors))
    (out / f"rows-{shard}.json").write_text(json.dumps(rows))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]), int(sys.argv[4]))
