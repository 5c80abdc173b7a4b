"""Writes the whole model in floats as ONNX and checks that it computes what PyTorch computes.

Usage: export.py heads.pt DESIGN OUT.onnx
"""

import sys

import numpy as np
import onnxruntime
import torch

from features import SIZE
from heads import DESIGNS, FEATURES, Cells, Detector
from lite import pretrained


def main(heads_path, design, out):
    saved = torch.load(heads_path)
    image, cells = DESIGNS[design](torch.zeros(FEATURES), torch.ones(FEATURES)), Cells()
    image.load_state_dict(saved["image"][design])
    cells.load_state_dict(saved["cells"])
    detector = Detector(pretrained(), image, cells).eval()
    axes = {name: {0: "N"} for name in ("images", "scores", "distances")}
    example = torch.randn(1, 3, SIZE, SIZE, generator=torch.Generator().manual_seed(1))
    torch.onnx.export(detector, (example,), out, dynamo=False, opset_version=17, dynamic_axes=axes, input_names=["images"], output_names=["scores", "distances"])
    scores, distances = onnxruntime.InferenceSession(out).run(None, {"images": example.numpy()})
    with torch.no_grad():
        difference = max(float(np.abs(got - want.numpy()).max()) for got, want in zip((scores, distances), detector(example)))
    print("largest difference", difference)
    assert difference < 0.001


if __name__ == "__main__":
    main(*sys.argv[1:4])
