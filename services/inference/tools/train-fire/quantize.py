"""Writes the model that computes in int8 from the one of floats.

Usage: quantize.py fire-416-float.onnx DATA_DIR fire-416.onnx

The backbone computes in int8; both heads stay in floats. The ranges come from every fortieth image of the sources, as it is and dark. Weights keep to seven
bits (`reduce_range`), because processors without VNNI add pairs of products in sixteen bits and would overflow.
"""

import json
import pathlib
import sys
import tempfile

import cv2
import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

from detector import tensor
from export import needed
from features import SIZE, files_of

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
        return None if image is None else {"images": np.ascontiguousarray(tensor(image, (SIZE, SIZE)))}


def named(source, target):
    """The same model with weights of 32 bits, and a name for every node."""
    options = onnxruntime.SessionOptions()
    options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
    options.optimized_model_filepath = str(target)
    onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
    model = onnx.load(target)
    for index, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{index}"
    onnx.save(model, target)
    return model


def kept_in_floats(model):
    """Everything that is not of the backbone: both heads."""
    backbone = {node.name for node in needed(model)[0]}
    return [node.name for node in model.graph.node if node.name not in backbone]


def main(source, data, target):
    with tempfile.TemporaryDirectory() as directory:
        plain = pathlib.Path(directory) / "plain.onnx"
        model = named(source, plain)
        quantize_static(
            plain,
            target,
            Images(data),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=kept_in_floats(model),
        )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
