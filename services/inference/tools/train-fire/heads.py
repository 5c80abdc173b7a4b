"""The heads on the frozen backbone: one for cells and their boxes, one for the whole image.

The cell head says where, the image head says whether.
"""

import torch
from torch import nn
from torch.nn import functional

BINS, LABELS, STRIDE = 14, 2, 16
FINE, MIDDLE, COARSE, WIDE = 40, 112, 320, 1280
FEATURES = 2 * (MIDDLE + WIDE)


def pooled(middle, wide):
    """Mean and maximum of every channel of stride 16 and of the last layer: what the image head sees."""
    return torch.cat([pool for value in (middle, wide) for pool in (value.mean((2, 3)), value.amax((2, 3)))], 1)


class Cells(nn.Module):
    """Three strides fused at stride 16, where `fine` is reduced to it by the greatest of four; gives LABELS cell logits
    and four sides of BINS logits each."""

    def __init__(self, width=64):
        super().__init__()
        self.fine, self.middle, self.coarse = (nn.Conv2d(channels, width, 1) for channels in (FINE, MIDDLE, COARSE))
        self.mixed = nn.Conv2d(width, width, 3, padding=1)
        self.out = nn.Conv2d(width, LABELS + 4 * BINS, 1)
        nn.init.constant_(self.out.bias[:LABELS], -3.0)

    def forward(self, fine, middle, coarse):
        up = functional.interpolate(self.coarse(coarse), scale_factor=2.0, mode="nearest")
        value = functional.relu(self.fine(fine) + self.middle(middle) + up)
        return self.out(functional.relu(self.mixed(value)))


class Linear(nn.Module):
    """Logistic regression on standardised pooled features; gives LABELS logits."""

    def __init__(self, mean, std):
        super().__init__()
        self.register_buffer("mean", mean)
        self.register_buffer("std", std)
        self.first, self.drop_in = nn.Linear(FEATURES, LABELS), nn.Dropout(0.3)

    def forward(self, features):
        return self.first(self.drop_in((features - self.mean) / self.std))


class Hidden(Linear):
    """One hidden layer."""

    def __init__(self, mean, std, width=192):
        super().__init__(mean, std)
        self.first, self.second, self.drop = nn.Linear(FEATURES, width), nn.Linear(width, LABELS), nn.Dropout(0.4)

    def forward(self, features):
        return self.second(self.drop(functional.leaky_relu(super().forward(features), 0.1)))


DESIGNS = {"linear": Linear, "hidden": Hidden}


class Mean(nn.Module):
    """The mean of the logits of several image heads."""

    def __init__(self, heads):
        super().__init__()
        self.heads = nn.ModuleList(heads)

    def forward(self, features):
        return torch.stack([head(features) for head in self.heads]).mean(0)


def named_heads(states):
    """Image heads by their design, from their states; `both` is the mean of all."""
    heads = {}
    for design, state in states.items():
        heads[design] = DESIGNS[design](torch.zeros(FEATURES), torch.ones(FEATURES))
        heads[design].load_state_dict(state)
    return {**heads, "both": Mean(heads.values())}


def scores_of(image, cells):
    """Raw scores of cells, (N, LABELS, height, width), from the logits of both heads: that of the best cell is what the
    image head says times the square root of the cell's own, the others are as much lower as they are."""
    own = torch.sigmoid(cells[:, :LABELS])
    return torch.sigmoid(image)[:, :, None, None] * own / torch.sqrt(own.amax((2, 3), keepdim=True))


class Heads(nn.Module):
    """Both heads as they ship: `scores`, (N, cells, LABELS), and `distances`, (N, cells, 4 * BINS)."""

    def __init__(self, image, cells):
        super().__init__()
        self.image, self.cells = image, cells

    def forward(self, fine, middle, coarse, wide):
        cells = self.cells(functional.max_pool2d(fine, 2), middle, coarse)
        scores = scores_of(self.image(pooled(middle, wide)), cells)
        return scores.flatten(2).transpose(1, 2), cells[:, LABELS:].flatten(2).transpose(1, 2)
