"""Writes raw scores of fire and smoke in real images by heads that saw nothing of their source, as samples for fitCurve.

Usage: calibrate.py OUT_DIR DESIGN. Writes OUT_DIR/samples.json: for each label the raw score of the best cell and
whether the label is there. Images that show neither fire nor smoke are what is false; those that show only the other
one are left out, because collections rarely label all smoke beside a fire.
"""

import json
import pathlib
import sys

import numpy as np

LABELS = ("fire", "smoke")


def main(out, design):
    results = [one for one in json.loads((out / "results.json").read_text()) if one["design"] == design]
    samples = {}
    for label, name in enumerate(LABELS):
        judged = [one for one in results if one["whole"][label] == 1 or one["whole"] == [0, 0]]
        samples[name] = [{"raw": one["raw"][label], "isRight": one["whole"][label] == 1, "source": one["source"]} for one in judged]
        raw, right = np.array([one["raw"] for one in samples[name]]), np.array([one["isRight"] for one in samples[name]])
        print(f"{name}: {right.sum()} images with it, {(~right).sum()} without either")
        for least in (0.3, 0.4, 0.5, 0.6, 0.7, 0.8):
            print(f"    at {least} found {(raw[right] >= least).mean():.3f} false {(raw[~right] >= least).mean():.3f}")
    (out / "samples.json").write_text(json.dumps(samples))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), sys.argv[2])
