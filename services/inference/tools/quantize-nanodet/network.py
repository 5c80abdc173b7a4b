"""The graph of NanoDet in PyTorch, as it is or with the rounding of int8."""

import numpy as np
import onnx
import torch
from onnx import numpy_helper
from torch.nn import functional


class RoundValues(torch.autograd.Function):
    """To one of 256 steps; gradients pass where nothing was cut off."""

    @staticmethod
    def forward(context, values, scale, zero):
        low, high = -zero * scale, (255 - zero) * scale
        context.save_for_backward((values >= low) & (values <= high))
        return (torch.clamp(torch.round(values / scale) + zero, 0, 255) - zero) * scale

    @staticmethod
    def backward(context, gradient):
        return gradient * context.saved_tensors[0], None, None


class RoundWeights(torch.autograd.Function):
    """To -STEPS..STEPS, a scale for each channel, as `reduce_range` does."""

    STEPS = 64

    @staticmethod
    def forward(_context, weights):
        scale = (weights.abs().amax((1, 2, 3), keepdim=True) / RoundWeights.STEPS).clamp(min=1e-9)
        return torch.round(weights / scale) * scale

    @staticmethod
    def backward(_context, gradient):
        return gradient


def attribute(node, name, default=None):
    return next((onnx.helper.get_attribute_value(one) for one in node.attribute if one.name == name), default)


def padded(values, node, fill=0.0):
    top, left, bottom, right = attribute(node, "pads", [0] * 4)
    return functional.pad(values, (left, right, top, bottom), value=fill)


def nodes_before(model, outputs):
    """The nodes that these outputs need, in their order."""
    needed, kept = set(outputs), []
    for node in reversed(model.graph.node):
        if needed.intersection(node.output):
            needed.update(node.input)
            kept.insert(0, node)
    return kept


class Network:
    def __init__(self, model, heads):
        self.heads = heads
        self.constants = {one.name: torch.from_numpy(numpy_helper.to_array(one).copy()) for one in model.graph.initializer}
        convolutions = [node for node in model.graph.node if node.op_type == "Conv"]
        self.outputs = [node.output[0] for node in convolutions if node.name in heads]
        self.nodes = nodes_before(model, self.outputs)
        self.weights = {name: self.constants[name].float() for node in convolutions for name in node.input[1:]}

    def run(self, images, weights, scales=None):
        """Outputs of the heads. `scales`, (scale, zero) of each tensor that is rounded: the rounding of int8."""
        values, rounded = {"images": images}, {}

        def read(name):
            if scales is None or name not in scales:
                return values[name]
            if name not in rounded:
                rounded[name] = RoundValues.apply(values[name], *scales[name])
            return rounded[name]

        for node in self.nodes:
            values[node.output[0]] = self.compute(node, read, weights, scales is not None)
        return [values[name] for name in self.outputs]

    def compute(self, node, read, weights, rounds):
        inputs = node.input
        if node.op_type == "Conv":
            kernel = weights[inputs[1]]
            if rounds and node.name not in self.heads:
                kernel = RoundWeights.apply(kernel)
            bias = weights[inputs[2]] if len(inputs) > 2 else None
            return functional.conv2d(padded(read(inputs[0]), node), kernel, bias, attribute(node, "strides", [1, 1]), groups=attribute(node, "group", 1))
        if node.op_type == "LeakyRelu":
            return functional.leaky_relu(read(inputs[0]), attribute(node, "alpha", 0.01))
        if node.op_type == "MaxPool":
            return functional.max_pool2d(padded(read(inputs[0]), node, -1e9), attribute(node, "kernel_shape"), attribute(node, "strides"))
        if node.op_type == "Add":
            return read(inputs[0]) + read(inputs[1])
        if node.op_type == "Concat":
            return torch.cat([read(name) for name in inputs], 1)
        if node.op_type == "Resize":
            factors = tuple(self.constants[inputs[2]][2:].tolist())
            return functional.interpolate(read(inputs[0]), scale_factor=factors, mode="bilinear", align_corners=False)
        raise ValueError(f"{node.op_type} is not expected before the heads")

    def with_weights(self, model, weights):
        """A copy of the model with these weights."""
        result = onnx.ModelProto()
        result.CopyFrom(model)
        for one in result.graph.initializer:
            if one.name in weights:
                one.CopyFrom(numpy_helper.from_array(weights[one.name].detach().numpy().astype(np.float32), one.name))
        return result
