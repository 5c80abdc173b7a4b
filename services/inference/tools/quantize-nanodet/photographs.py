"""Photographs that the int8 model is fitted to. None of what it is measured on is among them."""

import pathlib
import sys

import cv2
import numpy as np

sys.path.append(str(pathlib.Path(__file__).parents[1] / "train-fire"))
from inputs import SOURCES, files_of  # noqa: E402

NAMES = {
    *("streets-korea", "streets-seoul", "traffic-lights", "building-sites", "laboratory", "street-bins", "ships", "cars"),
    *("skies", "butterflies", "emergencies", "forest-fire", "shops", "city traffic", "highways", "cones"),
}
MOST = 300  # of one collection
MEAN = np.array([103.53, 116.28, 123.675], np.float32)
STD = np.array([57.375, 57.12, 58.395], np.float32)
SHAPES = [(544, 416), (736, 416), (416, 416), (416, 544)]


def photographs(data):
    """Files of every collection, by its name."""
    found = {}
    for source in [*SOURCES["images"], *SOURCES["footage"]]:
        if source["name"] in NAMES and source["name"] not in found:
            files = files_of(data, source)
            found[source["name"]] = files[:: -(-len(files) // MOST)]
    return found


def tensor(image, shape):
    """The input of the model, (3, height, width), of one BGR image that is stretched to the shape."""
    pixels = cv2.resize(np.ascontiguousarray(image), shape).astype(np.float32)
    return np.ascontiguousarray(((pixels - MEAN) / STD).transpose(2, 0, 1))


def measured(data, count=20):
    """Inputs from which the ranges come: some photographs of every collection, every fifth one dark."""
    chosen = [file for files in photographs(data).values() for file in files[:: max(1, len(files) // count)][:count]]
    for number, file in enumerate(chosen):
        image = cv2.imread(str(file))
        if number % 5 == 4:
            image = (image * 0.4).astype(np.uint8)
        aspect = image.shape[1] / image.shape[0]
        yield tensor(image, min(SHAPES, key=lambda shape: abs(np.log(shape[0] / shape[1] / aspect))))[None]


def part_of(image, shape, random):
    """A part of the shape's aspect, half of them mirrored, some darker or brighter."""
    height, width = image.shape[:2]
    rows = int(height * random.uniform(0.5, 1))
    columns = int(min(width, rows * shape[0] / shape[1]))
    top, left = random.integers(0, height - rows + 1), random.integers(0, width - columns + 1)
    image = image[top : top + rows, left : left + columns]
    if random.random() < 0.5:
        image = image[:, ::-1]
    return np.clip(image.astype(np.float32) * random.choice([1, 1, 1, 0.4, 0.7, 1.3]), 0, 255)


def example(files, shape, random):
    """A part of one photograph, or of four or nine side by side, so that what they show is small, too."""
    cells = 1 if random.random() < 0.6 else random.choice([2, 2, 3])
    size = (shape[0] // cells, shape[1] // cells)
    result = np.zeros((3, shape[1], shape[0]), np.float32)
    for row in range(cells):
        for column in range(cells):
            image = cv2.imread(str(files[random.integers(len(files))]))
            corner = np.s_[:, row * size[1] : (row + 1) * size[1], column * size[0] : (column + 1) * size[0]]
            result[corner] = tensor(part_of(image, size, random), size)
    return result
