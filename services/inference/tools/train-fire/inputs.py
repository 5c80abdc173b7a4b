"""The files that are used, and how an image becomes the input of the model."""

import hashlib
import json
import pathlib

import cv2
import numpy as np

SIZE = 352
MEAN, STD = 127, 128  # of RGB
SOURCES = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())


def scaled(image, shape):
    """Stretched to the shape; averaged when it shrinks, as the decoders of the service do."""
    height, width = image.shape[:2]
    shrinks = width * height > shape[0] * shape[1]
    return cv2.resize(image, tuple(shape), interpolation=cv2.INTER_AREA if shrinks else cv2.INTER_LINEAR)


def tensor(image, shape):
    """The input of the model, (1, 3, height, width), of one BGR image."""
    return np.ascontiguousarray(((scaled(image, shape)[..., ::-1].astype(np.float32) - MEAN) / STD).transpose(2, 0, 1)[None])


def files_of(data, source):
    """The files of a source in order of their paths. Raises when one is missing, new or different."""
    files = sorted(file for pattern in source["images"] for file in data.glob(pattern))
    lines = [f"{hashlib.sha256(file.read_bytes()).hexdigest()}  {file.relative_to(data)}\n" for file in files]
    if hashlib.sha256("".join(lines).encode()).hexdigest() != source["sha256"]:
        raise SystemExit(f"{source['name']}: {len(files)} files of {source['files']} found, or some differ from those that were used")
    return files
