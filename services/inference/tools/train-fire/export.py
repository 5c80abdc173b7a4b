"""Joins the backbone and the trained heads, and checks that the whole computes what PyTorch computes of its maps.

Usage: export.py backbone.onnx heads.pt DESIGN OUT.onnx
"""

import sys
import tempfile

import numpy as np
import onnx
import onnxruntime
import torch

from backbone import MAPS
from heads import COARSE, FINE, MIDDLE, WIDE, Cells, Heads, named_heads
from inputs import SIZE


def examples():
    """Maps of two images, strides 8, 16, 32 and 32."""
    generator = torch.Generator().manual_seed(1)
    return tuple(torch.rand(2, channels, SIZE // stride, SIZE // stride, generator=generator) for channels, stride in ((FINE, 8), (MIDDLE, 16), (COARSE, 32), (WIDE, 32)))


def check(backbone, heads, out):
    images = {"images": np.random.default_rng(1).normal(size=(1, 3, SIZE, SIZE)).astype(np.float32)}
    maps = onnxruntime.InferenceSession(backbone).run(MAPS, images)
    with torch.no_grad():
        wanted = heads(*map(torch.from_numpy, maps))
    got = onnxruntime.InferenceSession(out).run(["scores", "distances"], images)
    difference = max(float(np.abs(one - other.numpy()).max()) for one, other in zip(got, wanted))
    print("largest difference", difference)
    assert difference < 0.001


def main(backbone, heads_path, design, out):
    saved = torch.load(heads_path)
    cells = Cells()
    cells.load_state_dict(saved["cells"])
    heads, names = Heads(named_heads(saved["image"])[design], cells).eval(), ["scores", "distances"]
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        axes = {name: {0: "N"} for name in (*MAPS, *names)}
        torch.onnx.export(heads, examples(), file.name, dynamo=False, opset_version=17, dynamic_axes=axes, input_names=MAPS, output_names=names)
        first, second = onnx.compose.add_prefix(onnx.load(backbone), "backbone/", rename_inputs=False), onnx.load(file.name)
    second.ir_version = first.ir_version
    merged = onnx.compose.merge_models(first, second, [(f"backbone/{name}", name) for name in MAPS])
    onnx.save(merged, out)
    check(backbone, heads, out)


if __name__ == "__main__":
    main(*sys.argv[1:5])
