"""Writes models/nanodet-416-int8.onnx, which computes in eight bits, from models/nanodet-416.onnx.

Usage, with a Python venv that has `onnx`, `numpy`, `onnxruntime` and `opencv-python-headless`:
    python quantize-nanodet.py ../models/nanodet-416.onnx ../../../examples/street.mp4 nanodet-416-int8.onnx

Every convolution but the three that make scores and distances gets weights of eight bits, a scale for each channel,
and inputs and outputs of eight bits, with one scale for each tensor. Those scales come from the lowest and highest
values seen in pictures: every eighth of the clip, as it is, dark, bright, near and mirrored, and noisy, so that what is
darker or brighter than a street in daylight is not cut off.

Weights keep to seven bits (`reduce_range`). Processors without VNNI add pairs of products in sixteen bits; with eight
bits these would overflow, and scores would depend on the processor.
"""

import pathlib
import sys
import tempfile

import cv2
import numpy as np
import onnx
import onnxruntime
from onnxruntime.quantization import CalibrationDataReader, QuantFormat, QuantType, quantize_static

MEAN = np.array([103.53, 116.28, 123.675], np.float32)
STD = np.array([57.375, 57.12, 58.395], np.float32)
EVERY = 8


def frames_of(clip: pathlib.Path) -> list[np.ndarray]:
    capture = cv2.VideoCapture(str(clip))
    frames = []
    while True:
        is_there, frame = capture.read()
        if not is_there:
            return frames
        frames.append(frame)


def pictures_of(frames: list[np.ndarray]):
    """Pictures and the shapes in which the model gets them."""
    random = np.random.default_rng(62)
    for frame in frames:
        height, width = frame.shape[:2]
        yield frame, (544, 416)
        yield (frame * 0.35).astype(np.uint8), (544, 416)
        yield np.clip(frame * 1.5 + 20, 0, 255).astype(np.uint8), (544, 416)
        yield frame[height // 4 : 3 * height // 4, width // 4 : 3 * width // 4][:, ::-1], (736, 416)
        noisy = frame.astype(np.float32) + random.normal(0, 25, frame.shape)
        yield np.clip(noisy, 0, 255).astype(np.uint8), (416, 416)


class Pictures(CalibrationDataReader):
    def __init__(self, frames: list[np.ndarray]) -> None:
        self.pictures = pictures_of(frames)

    def get_next(self) -> dict | None:
        picture, shape = next(self.pictures, (None, None))
        if picture is None:
            return None
        pixels = (cv2.resize(np.ascontiguousarray(picture), shape).astype(np.float32) - MEAN) / STD
        return {"images": np.ascontiguousarray(pixels.transpose(2, 0, 1)[None])}


def folded(source: pathlib.Path, target: pathlib.Path) -> onnx.ModelProto:
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


def heads_of(model: onnx.ModelProto) -> list[str]:
    """The convolutions whose outputs are split into scores and distances."""
    split = {node.input[0] for node in model.graph.node if node.op_type == "Split"}
    return [node.name for node in model.graph.node if node.op_type == "Conv" and node.output[0] in split]


def main(source: pathlib.Path, clip: pathlib.Path, target: pathlib.Path) -> None:
    with tempfile.TemporaryDirectory() as directory:
        plain = pathlib.Path(directory) / "plain.onnx"
        model = folded(source, plain)
        quantize_static(
            plain,
            target,
            Pictures(frames_of(clip)[::EVERY]),
            quant_format=QuantFormat.QDQ,
            per_channel=True,
            reduce_range=True,
            activation_type=QuantType.QUInt8,
            weight_type=QuantType.QInt8,
            nodes_to_exclude=heads_of(model),
        )


main(*(pathlib.Path(argument) for argument in sys.argv[1:4]))
