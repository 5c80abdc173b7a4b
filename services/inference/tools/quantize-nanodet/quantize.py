"""Writes models/nanodet-416-int8.onnx, which computes in int8, from models/nanodet-416.onnx.

Usage: quantize.py ../../models/nanodet-416.onnx DATA_DIR nanodet-416-int8.onnx

Every convolution but the three that make scores and distances gets weights of int8, a scale for each channel, and
inputs and outputs of eight bits, with one scale for each tensor. Ranges are the extremes that nineteen of twenty
photographs keep to. Then the weights are trained so that the rounded network gives what the one of floats gives on
photographs without labels (distillation).

Weights keep to seven bits (`reduce_range`). Processors without VNNI add pairs of products in sixteen bits; with eight
bits these would overflow, and scores would depend on the processor.
"""

import pathlib
import sys
import tempfile
import time

import numpy as np
import onnx
import onnxruntime
import torch
from onnx import numpy_helper
from onnxruntime.quantization import QuantType
from onnxruntime.quantization.calibrate import CalibrationMethod, TensorData, TensorsData
from onnxruntime.quantization.qdq_quantizer import QDQQuantizer

from network import Network, nodes_before
from photographs import example, measured, photographs

SEED, STEPS, BATCH, RATE, KEPT = 62, 900, 4, 3e-5, 0.95
CLASSES = 80
TYPES = ["Conv", "MaxPool", "Resize", "Concat", "Add", "LeakyRelu"]


def open_session(model):
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    return onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def folded(source):
    """The same model with weights of 32 bits, and a name for every node."""
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        options = onnxruntime.SessionOptions()
        options.graph_optimization_level = onnxruntime.GraphOptimizationLevel.ORT_ENABLE_BASIC
        options.optimized_model_filepath = file.name
        onnxruntime.InferenceSession(str(source), options, providers=["CPUExecutionProvider"])
        model = onnx.load(file.name)
    for index, node in enumerate(model.graph.node):
        node.name = node.name or f"{node.op_type}_{index}"
    return model


def heads_of(model):
    """The convolutions whose outputs are split into scores and distances."""
    split = {node.input[0] for node in model.graph.node if node.op_type == "Split"}
    return [node.name for node in model.graph.node if node.op_type == "Conv" and node.output[0] in split]


def ranges_of(model, data):
    """Lowest and highest value of each tensor that KEPT of the photographs keep to."""
    probe, constants = onnx.ModelProto(), {one.name for one in model.graph.initializer}
    probe.CopyFrom(model)
    names = sorted({name for node in model.graph.node for name in (*node.input, *node.output) if name} - constants)
    outputs = []
    for name in names:
        for kind in ("ReduceMin", "ReduceMax"):
            probe.graph.node.append(onnx.helper.make_node(kind, [name], [name + kind], keepdims=0))
            probe.graph.output.append(onnx.helper.make_tensor_value_info(name + kind, onnx.TensorProto.FLOAT, None))
            outputs.append(name + kind)
    session = open_session(probe.SerializeToString())
    rows = np.array([session.run(outputs, {"images": images}) for images in measured(data)], np.float32).reshape(-1, len(names), 2)
    low, high = np.quantile(rows[..., 0], 1 - KEPT, axis=0), np.quantile(rows[..., 1], KEPT, axis=0)
    ends = {name: TensorData(lowest=np.float32(min(0, low[i])), highest=np.float32(max(0, high[i]))) for i, name in enumerate(names)}
    return TensorsData(CalibrationMethod.MinMax, ends)


def quantized(model, ranges):
    """In int8 up to the heads. What comes behind keeps its floats: the highest scores would be cut off."""
    heads = heads_of(model)
    before = {node.name for node in nodes_before(model, [node.output[0] for node in model.graph.node if node.name in heads])}
    rest = [node.name for node in model.graph.node if node.name not in before or node.name in heads]
    copy = onnx.shape_inference.infer_shapes(model)
    quantizer = QDQQuantizer(copy, True, True, QuantType.QInt8, QuantType.QUInt8, ranges, [], rest, TYPES, {})
    quantizer.quantize_model()
    return quantizer.model.model


def scales_of(model):
    """(scale, zero) of each tensor that the quantised model rounds."""
    constants = {one.name: numpy_helper.to_array(one) for one in model.graph.initializer}
    nodes = [node for node in model.graph.node if node.op_type == "QuantizeLinear"]
    return {node.input[0]: (float(constants[node.input[1]]), int(constants[node.input[2]])) for node in nodes}


def loss_of(got, wanted):
    """Scores count where either network sees something, distances where the one of floats does."""
    total = 0
    for one, other in zip(got, wanted):
        score, truth = torch.sigmoid(one[:, :CLASSES]), torch.sigmoid(other[:, :CLASSES])
        total += ((score - truth) ** 2 * (1 + 20 * torch.maximum(score, truth).detach())).sum() / len(one) / 20
        total += ((one[:, :CLASSES] - other[:, :CLASSES]) ** 2).mean() * 0.3
        seen = truth.amax(1, keepdim=True).clamp(min=0.02)
        total += ((one[:, CLASSES:] - other[:, CLASSES:]) ** 2 * seen).sum() / seen.sum() / 22
    return total


def distilled(network, scales, data):
    torch.manual_seed(SEED)
    random, begun = np.random.default_rng(SEED), time.time()
    files = [file for files in photographs(data).values() for file in files]
    weights = {name: torch.nn.Parameter(value.clone()) for name, value in network.weights.items()}
    optimizer = torch.optim.Adam(weights.values(), lr=RATE)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    for step in range(STEPS):
        shape = [(416, 416), (544, 416), (416, 416)][random.integers(3)]
        images = torch.from_numpy(np.stack([example(files, shape, random) for _ in range(BATCH)]))
        with torch.no_grad():
            wanted = network.run(images, network.weights)
        loss = loss_of(network.run(images, weights, scales), wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 50 == 49:
            print(step + 1, "of", STEPS, round(loss.item(), 3), f"{time.time() - begun:.0f} s", flush=True)
    return weights


def main(source, data, target):
    model = folded(source)
    ranges, network = ranges_of(model, data), Network(model, heads_of(model))
    weights = distilled(network, scales_of(quantized(model, ranges)), data)
    onnx.save(quantized(network.with_weights(model, weights), ranges), target)


if __name__ == "__main__":
    main(*(pathlib.Path(argument) for argument in sys.argv[1:4]))
