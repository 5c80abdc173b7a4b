"""Writes the model that computes in int8 from the one of floats.

Usage: quantize.py fire-352-float.onnx DATA_DIR fire-352.onnx

The backbone computes in int8, the heads stay in floats. The ranges come from every fortieth image of the sources, as it
is and dark. Weights keep to seven bits (`reduce_range`), because processors without VNNI add pairs of products in
sixteen bits and would overflow.
"""

import json
import pathlib
import sys
import tempfile

import cv2
import numpy as np
import onnx
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from features import SIZE, files_of, tensor

EVERY = 40


def images_of(data):
    sources = json.loads((pathlib.Path(__file__).parent / "sources.json").read_text())["images"]
    for source in sources:
        if source.get("held_out"):
            continue
        for number, file in enumerate(files_of(data, source)[::EVERY]):
            image = cv2.imread(str(file))
            yield (image * 0.35).astype(np.uint8) if number % 4 == 3 else image


class Images(CalibrationDataReader):
    def __init__(self, data):
        self.images = images_of(data)

    def get_next(self):
        image = next(self.images, None)
        return None if image is None else {"images": tensor(image, (SIZE, SIZE))}


def kept_in_floats(model):
    """Everything that is not of the backbone: both heads."""
    return [node.name for node in model.graph.node if not node.name.startswith("/network")]


def main(source, data, target):
    with tempfile.TemporaryDirectory() as directory:
        plain = pathlib.Path(directory) / "plain.onnx"
        quant_pre_process(source, plain, skip_symbolic_shape=True)
        quantize_static(
            plain,
            target,
            Images(data),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=kept_in_floats(onnx.load(plain)),
        )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
