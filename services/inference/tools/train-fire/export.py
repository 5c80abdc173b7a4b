"""Joins the backbone and a trained head into one ONNX model and checks that both compute the same.

Usage: export.py heads.pt DESIGN OUT.onnx
"""

import sys

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import TensorProto, helper, numpy_helper

from features import BACKBONE, TAPS, open_backbone
from heads import BINS, DESIGNS, FEATURES, LABELS, Cells, pooled, scores_of

POOLED = ["head_fine", *TAPS[1:]]


class Graph:
    def __init__(self):
        self.nodes, self.initializers, self.count = [], [], 0

    def constant(self, array):
        self.count += 1
        name = f"head_c{self.count}"
        self.initializers.append(numpy_helper.from_array(np.ascontiguousarray(array), name))
        return name

    def weight(self, tensor):
        """Weights are stored as float16 and widened when the session starts, like those of the backbone."""
        return self.add("Cast", self.constant(tensor.detach().numpy().astype(np.float16)), to=TensorProto.FLOAT)

    def add(self, kind, *inputs, output=None, **attributes):
        self.count += 1
        output = output or f"head_v{self.count}"
        self.nodes.append(helper.make_node(kind, list(inputs), [output], **attributes))
        return output

    def convolve(self, value, layer):
        side = layer.padding[0]
        return self.add("Conv", value, self.weight(layer.weight), self.weight(layer.bias), pads=[side] * 4, group=layer.groups)

    def dense(self, value, layer):
        return self.add("Gemm", value, self.weight(layer.weight), self.weight(layer.bias), transB=1)

    def rows(self, value, columns, output=None):
        """[N, columns, height, width] as [N, cells, columns]."""
        flat = self.add("Reshape", value, self.constant(np.array([0, columns, -1], np.int64)))
        return self.add("Transpose", flat, perm=[0, 2, 1], output=output)


def image_score(graph, image):
    """The image head on pooled taps; its standardisation is folded into the first layer."""
    pools = [graph.add("Flatten", graph.add(kind, tap)) for tap in POOLED for kind in ("GlobalAveragePool", "GlobalMaxPool")]
    centred = graph.add("Sub", graph.add("Concat", *pools, axis=1), graph.constant(image.mean.numpy()))
    logits = graph.dense(graph.add("Div", centred, graph.constant(image.std.numpy())), image.first)
    if hasattr(image, "second"):
        logits = graph.dense(graph.add("LeakyRelu", logits, alpha=0.1), image.second)
    return graph.add("Unsqueeze", graph.add("Sigmoid", logits), graph.constant(np.array([1], np.int64)))


def head_graph(image, cells):
    graph = Graph()
    _, middle, coarse = TAPS
    leak = lambda value: graph.add("LeakyRelu", value, alpha=0.1)
    fine = graph.add("MaxPool", TAPS[0], output=POOLED[0], kernel_shape=[2, 2], strides=[2, 2])
    scales = graph.constant(np.array([1, 1, 2, 2], np.float32))
    up = graph.add("Resize", graph.convolve(coarse, cells.coarse), "", scales, mode="nearest", nearest_mode="floor", coordinate_transformation_mode="asymmetric")
    mixed = leak(graph.add("Add", graph.add("Add", graph.convolve(fine, cells.fine), graph.convolve(middle, cells.middle)), up))
    sizes = graph.constant(np.array([LABELS, 4 * BINS], np.int64))
    graph.nodes.append(helper.make_node("Split", [graph.convolve(mixed, cells.out), sizes], ["head_cells", "head_sides"], axis=1))
    own = graph.add("Sqrt", graph.add("Sigmoid", "head_cells"))
    graph.add("Mul", graph.rows(own, LABELS), image_score(graph, image), output="scores")
    graph.rows("head_sides", 4 * BINS, output="distances")
    return graph


def needed(model):
    """The nodes and weights of the backbone that the taps depend on."""
    wanted, nodes = set(TAPS), []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            nodes.append(node)
            wanted |= set(node.input)
    return nodes[::-1], [weight for weight in model.graph.initializer if weight.name in wanted]


def join(image, cells):
    model = onnx.load(BACKBONE)
    nodes, weights = needed(model)
    graph = head_graph(image, cells)
    outputs = [
        helper.make_tensor_value_info("scores", TensorProto.FLOAT, ["N", "cells", LABELS]),
        helper.make_tensor_value_info("distances", TensorProto.FLOAT, ["N", "cells", 4 * BINS]),
    ]
    joined = helper.make_graph(nodes + graph.nodes, "fire-416", list(model.graph.input), outputs, weights + graph.initializers)
    result = helper.make_model(joined, opset_imports=model.opset_import, ir_version=model.ir_version, producer_name="train-fire")
    onnx.checker.check_model(result, full_check=True)
    return result


def main(heads_path, design, out):
    saved = torch.load(heads_path)
    image, cells = DESIGNS[design](torch.zeros(FEATURES), torch.ones(FEATURES)), Cells()
    image.load_state_dict(saved["image"][design])
    cells.load_state_dict(saved["cells"])
    image.eval()
    onnx.save(join(image, cells), out)
    random = np.random.default_rng(1).normal(size=(1, 3, 416, 416)).astype(np.float32)
    got = onnxruntime.InferenceSession(out).run(None, {"images": random})
    with torch.no_grad():
        fine, middle, coarse = (torch.from_numpy(value) for value in open_backbone().run(None, {"images": random}))
        taps = (torch.nn.functional.max_pool2d(fine, 2), middle, coarse)
        scores = scores_of(cells(*taps)[:, :LABELS], image(pooled(*taps))).flatten(2).transpose(1, 2).numpy()
    difference = float(np.abs(got[0] - scores).max())
    print("largest difference", difference)
    assert difference < 0.02


if __name__ == "__main__":
    main(*sys.argv[1:4])
