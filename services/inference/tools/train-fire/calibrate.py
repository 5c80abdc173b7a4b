"""Prints raw scores of fire in real images by heads that did not see them, as samples for fitCurve.

Usage: calibrate.py FEATURES OUT_DIR. Writes OUT_DIR/samples.json: raw score of the best cell, and whether fire is there.
"""

import json
import pathlib
import sys

import numpy as np
import torch

from heads import Cells
from train import batch_of, load


def main(folder, out):
    rows, maps = load(folder)
    results = {one["file"]: one for one in json.loads((out / "results.json").read_text()) if one["design"] == "hidden"}
    cells = Cells()
    cells.load_state_dict(torch.load(out / "heads.pt")["cells"])
    samples = []
    plain = [i for i, row in enumerate(rows) if row["kind"] == "plain"]
    with torch.no_grad():
        for start in range(0, len(plain), 32):
            chosen = plain[start : start + 32]
            best = torch.sigmoid(cells(*batch_of(maps, chosen))[:, 0]).flatten(1).amax(1).sqrt().tolist()
            for i, own in zip(chosen, best):
                raw = own * results[rows[i]["file"]]["scores"][0]
                samples.append({"raw": raw, "isRight": rows[i]["whole"][0] == 1, "source": rows[i]["source"], "cell": own, "file": rows[i]["file"]})
    (out / "samples.json").write_text(json.dumps(samples))
    raw = np.array([one["raw"] for one in samples])
    fire = np.array([one["isRight"] for one in samples])
    for least in (0.2, 0.3, 0.4, 0.5, 0.6, 0.7):
        print(least, f"found {(raw[fire] >= least).mean():.3f} false {(raw[~fire] >= least).mean():.3f}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]))
