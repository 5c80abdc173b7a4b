"""Writes the backbone as it ships: EfficientNet-Lite0 with its weights of ImageNet, in int8.

Usage: backbone.py DATA_DIR backbone.onnx

The heads are trained on what this file gives. Its first convolution and two blocks stay in floats: with them in int8
features differ twice as much from those of floats. The ranges come from every fortieth image of the sources, one in
four of them dark. Weights keep to seven bits (`reduce_range`), because processors without VNNI add pairs of products in sixteen bits
and would overflow.
"""

import pathlib
import sys
import tempfile

import cv2
import numpy as np
import onnx
import torch
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static
from onnxruntime.quantization.shape_inference import quant_pre_process

from inputs import SIZE, SOURCES, files_of, tensor
from lite import pretrained

EVERY = 40
IN_FLOATS = ("/_conv_stem", "/_blocks.0/", "/_blocks.1/")
MAPS = ["fine", "middle", "coarse", "wide"]


def images_of(data):
    for source in SOURCES["images"]:
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


def main(data, target):
    with tempfile.TemporaryDirectory() as directory:
        floats, plain = f"{directory}/floats.onnx", f"{directory}/plain.onnx"
        axes = {name: {0: "N"} for name in ("images", *MAPS)}
        example = (torch.zeros(1, 3, SIZE, SIZE),)
        torch.onnx.export(pretrained(), example, floats, dynamo=False, opset_version=17, dynamic_axes=axes, input_names=["images"], output_names=MAPS)
        quant_pre_process(floats, plain, skip_symbolic_shape=True)
        kept = [node.name for node in onnx.load(plain).graph.node if node.name.startswith(IN_FLOATS)]
        assert all(any(name.startswith(start) for name in kept) for start in IN_FLOATS)
        quantize_static(
            plain,
            target,
            Images(data),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=kept,
        )


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
