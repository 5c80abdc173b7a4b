"""The server that a user would write instead of this system: one file, the same model, nothing around it.

No keys, limits, units, storage, history or sandboxes of decoders. Started by bench/peer.bench.ts.
"""

import os

import cv2
import numpy
import onnxruntime
from fastapi import FastAPI, HTTPException, UploadFile

WIDTH, HEIGHT = int(os.environ["PEER_WIDTH"]), int(os.environ["PEER_HEIGHT"])
MEAN = numpy.array([103.53, 116.28, 123.675], dtype=numpy.float32)
STD = numpy.array([57.375, 57.12, 58.395], dtype=numpy.float32)
STRIDES = [8, 16, 32]
BINS = numpy.arange(11, dtype=numpy.float32)
# person, bicycle, car, motorcycle, bus, train, truck
WANTED = [0, 1, 2, 3, 5, 6, 7]
MIN_SCORE = 0.35
MAX_OVERLAP = 0.6

options = onnxruntime.SessionOptions()
# Two workers share two cores: more threads in each would only take turns.
options.intra_op_num_threads = 1
session = onnxruntime.InferenceSession(os.environ["PEER_MODEL"], options, providers=["CPUExecutionProvider"])
cv2.setNumThreads(1)


def cells():
    """Middle and stride of every cell of the model's output."""
    parts = []
    for stride in STRIDES:
        ys, xs = numpy.mgrid[0 : -(-HEIGHT // stride), 0 : -(-WIDTH // stride)]
        middle = (numpy.stack([xs.ravel(), ys.ravel()], axis=1) + 0.5) * stride
        parts.append(numpy.concatenate([middle, numpy.full((len(middle), 1), stride)], axis=1))
    return numpy.concatenate(parts).astype(numpy.float32)


CELLS = cells()


def detect(picture):
    resized = cv2.resize(picture, (WIDTH, HEIGHT), interpolation=cv2.INTER_LINEAR)
    tensor = ((resized.astype(numpy.float32) - MEAN) / STD).transpose(2, 0, 1)[None]
    scores, distances = session.run(["scores", "distances"], {"images": tensor})
    scores = scores[0][:, WANTED]
    rows, columns = numpy.nonzero(scores >= MIN_SCORE)
    logits = distances[0][rows].reshape(-1, 4, len(BINS))
    weights = numpy.exp(logits - logits.max(axis=2, keepdims=True))
    sides = (weights * BINS).sum(axis=2) / weights.sum(axis=2) * CELLS[rows, 2:]
    boxes = numpy.concatenate([CELLS[rows, :2] - sides[:, :2], sides[:, :2] + sides[:, 2:]], axis=1)
    found = scores[rows, columns]
    kept = cv2.dnn.NMSBoxesBatched(boxes, found, columns, MIN_SCORE, MAX_OVERLAP) if len(found) else []
    size = [WIDTH, HEIGHT, WIDTH, HEIGHT]
    return [
        {"class": WANTED[columns[at]], "score": float(found[at]), "box": (boxes[at] / size).tolist()} for at in kept
    ]


app = FastAPI()


@app.post("/detect")
def detect_all(files: list[UploadFile]):
    results = []
    for file in files:
        picture = cv2.imdecode(numpy.frombuffer(file.file.read(), numpy.uint8), cv2.IMREAD_COLOR)
        if picture is None:
            raise HTTPException(422, "not a picture")
        height, width = picture.shape[:2]
        results.append({"width": width, "height": height, "objects": detect(picture)})
    return {"results": results}


@app.get("/ready")
def ready():
    return {}
