"""Joins the backbone and the trained heads and checks that they compute what PyTorch computes.

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


def main(backbone, heads_path, design, out):
    saved = torch.load(heads_path)
    cells = Cells()
    cells.load_state_dict(saved["cells"])
    heads, names = Heads(named_heads(saved["image"])[design], cells).eval(), ["scores", "distances"]
    with tempfile.NamedTemporaryFile(suffix=".onnx") as file:
        axes = {name: {0: "N"} for name in (*MAPS, *names)}
        torch.onnx.export(heads, examples(), file.name, dynamo=False, opset_version=17, dynamic_axes=axes, input_names=MAPS, output_names=names)
        got = onnxruntime.InferenceSession(file.name).run(None, {name: value.numpy() for name, value in zip(MAPS, examples())})
        with torch.no_grad():
            difference = max(float(np.abs(one - other.numpy()).max()) for one, other in zip(got, heads(*examples())))
        print("largest difference", difference)
        assert difference < 0.001
        first, second = onnx.compose.add_prefix(onnx.load(backbone), "backbone/", rename_inputs=False), onnx.load(file.name)
    second.ir_version = first.ir_version
    merged = onnx.compose.merge_models(first, second, [(f"backbone/{name}", name) for name in MAPS])
    onnx.save(merged, out)


if __name__ == "__main__":
    main(*sys.argv[1:5])
