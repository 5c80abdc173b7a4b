"""The heads on the frozen backbone: one for cells and their boxes, one for the whole image.

The cell head says where, the image head says whether: the score of a cell is the probability that the image head gives,
times the square root of the cell's own.
"""

import torch
from torch import nn
from torch.nn import functional

BINS, LABELS, STRIDE = 14, 2, 16
FEATURES = 2 * (128 + 256 + 512)


def pooled(fine, middle, coarse):
    """Mean and maximum of every channel of the three strides: what the image head sees."""
    return torch.cat([pool for value in (fine, middle, coarse) for pool in (value.mean((2, 3)), value.amax((2, 3)))], 1)


class Cells(nn.Module):
    """Three strides fused at stride 16; gives LABELS cell logits and four sides of BINS logits each."""

    def __init__(self, width=48):
        super().__init__()
        self.fine, self.middle, self.coarse = (nn.Conv2d(n, width, 1) for n in (128, 256, 512))
        self.out = nn.Conv2d(width, LABELS + 4 * BINS, 1)
        nn.init.constant_(self.out.bias[:LABELS], -3.0)

    def forward(self, fine, middle, coarse):
        up = functional.interpolate(self.coarse(coarse), scale_factor=2.0, mode="nearest")
        mixed = functional.leaky_relu(self.fine(fine) + self.middle(middle) + up, 0.1)
        return self.out(mixed)


class Linear(nn.Module):
    """Logistic regression on standardised pooled features."""

    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.first = nn.Linear(FEATURES, LABELS)

    def forward(self, features):
        return self.first((features - self.mean) / self.std)


class Hidden(Linear):
    """One hidden layer."""

    def __init__(self, mean, std, width=192):
        super().__init__(mean, std)
        self.first, self.second = nn.Linear(FEATURES, width), nn.Linear(width, LABELS)
        self.drop_in, self.drop = nn.Dropout(0.3), nn.Dropout(0.4)

    def forward(self, features):
        hidden = functional.leaky_relu(self.first(self.drop_in((features - self.mean) / self.std)), 0.1)
        return self.second(self.drop(hidden))


DESIGNS = {"linear": Linear, "hidden": Hidden}


def scores_of(cells, image):
    return torch.sigmoid(image)[:, :, None, None] * torch.sqrt(torch.sigmoid(cells))
