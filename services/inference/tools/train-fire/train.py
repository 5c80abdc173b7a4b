"""Trains the two heads on cached features.

Usage: train.py FEATURES OUT_DIR STEPS

Writes OUT_DIR/heads.pt, trained on everything but sources that are held out, and OUT_DIR/results.json: scores of images
by heads that never saw them or their like, in four folds, for every design of the image head; and by heads that saw
nothing of their whole source.
"""

import hashlib
import json
import pathlib
import sys

import numpy as np
import torch
from torch.nn import functional

from heads import BINS, DESIGNS, LABELS, STRIDE, Cells, pooled

GRID, SEED = 26, 25
SIZES = (128 * GRID * GRID, 256 * GRID * GRID, 512 * 13 * 13)


def load(folder):
    """All examples: rows, and where their features are."""
    rows, maps = [], []
    for file in sorted(folder.glob("rows-*.json")):
        features = np.load(str(file).replace("rows", "features").replace("json", "npy"), mmap_mode="r")
        for index, row in enumerate(json.loads(file.read_text())):
            rows.append(row)
            maps.append((features, index))
    return rows, maps


def batch_of(maps, chosen):
    vectors = torch.from_numpy(np.stack([maps[i][0][maps[i][1]] for i in chosen]).astype(np.float32))
    fine, middle, coarse = torch.split(vectors, SIZES, dim=1)
    return fine.reshape(-1, 128, GRID, GRID), middle.reshape(-1, 256, GRID, GRID), coarse.reshape(-1, 512, 13, 13)


def targets_of(row):
    """Cell labels (1 inside a box, 0 outside, -1 not known) and the box of each positive cell."""
    centre = (np.arange(GRID) + 0.5) * STRIDE
    x, y = np.meshgrid(centre, centre)
    labels = np.zeros((LABELS, GRID, GRID), np.float32)
    boxes = np.zeros((GRID, GRID, 4), np.float32)
    for label in range(LABELS):
        if row["whole"][label] is None or (row["weak"] and row["whole"][label]):
            labels[label] = -1
    for label, x1, y1, x2, y2 in sorted(row["boxes"], key=lambda box: -(box[3] - box[1]) * (box[4] - box[2])):
        reach_x, reach_y = max((x2 - x1) * 0.3, STRIDE * 0.51), max((y2 - y1) * 0.3, STRIDE * 0.51)
        inner = (np.abs(x - (x1 + x2) / 2) < reach_x) & (np.abs(y - (y1 + y2) / 2) < reach_y)
        edge = (x > x1) & (x < x2) & (y > y1) & (y < y2)
        labels[label][edge & (labels[label] == 0)] = -1
        labels[label][inner] = 1
        boxes[inner] = (x1, y1, x2, y2)
    return labels, boxes


def sampled_cells(rows, maps, random):
    """Vectors of up to 24 cells inside boxes and 24 outside for each image, with what is true of them."""
    vectors, labels, sides = [], [], []
    for row, (features, index) in zip(rows, maps):
        fine, middle, coarse = np.split(np.asarray(features[index]), np.cumsum(SIZES)[:2])
        coarse = coarse.reshape(512, 13, 13).repeat(2, axis=1).repeat(2, axis=2)
        cells = np.concatenate([fine.reshape(128, GRID, GRID), middle.reshape(256, GRID, GRID), coarse])
        truth, boxes = targets_of(row)
        inside = np.argwhere((truth == 1).any(0))
        outside = np.argwhere((truth != 1).all(0) & (truth == 0).any(0))
        for group in (inside, outside):
            for y, x in random.permutation(group)[:24] if len(group) else []:
                centre = np.array([(x + 0.5) * STRIDE, (y + 0.5) * STRIDE] * 2)
                vectors.append(cells[:, y, x])
                labels.append(truth[:, y, x])
                sides.append((boxes[y, x] - centre) * (-1, -1, 1, 1) if truth[:, y, x].max() == 1 else np.full(4, -1.0))
    return (torch.from_numpy(np.stack(part).astype(np.float32)) for part in (vectors, labels, sides))


def box_loss(logits, want):
    """One minus the overlap of boxes that share their centre cell; rows without a box have negative sides."""
    boxed = want[:, 0] > -1
    if not boxed.any():
        return logits.sum() * 0
    want = want[boxed].clamp(min=1)
    got = (logits[boxed].reshape(-1, 4, BINS).softmax(-1) * torch.arange(BINS)).sum(-1) * STRIDE
    area = lambda box: (box[:, 0] + box[:, 2]) * (box[:, 1] + box[:, 3])
    common = area(torch.minimum(got, want))
    return (1 - common / (area(got) + area(want) - common).clamp(min=1)).mean()


def train_cells(rows, maps, steps):
    torch.manual_seed(SEED)
    vectors, labels, sides = sampled_cells(rows, maps, np.random.default_rng(SEED))
    print(len(vectors), "cells", flush=True)
    head = Cells()
    optimizer = torch.optim.AdamW(head.parameters(), lr=2e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=steps + 1, pct_start=0.15)
    generator = torch.Generator().manual_seed(SEED)
    for step in range(steps):
        chosen = torch.randint(0, len(vectors), (256,), generator=generator)
        part = vectors[chosen][:, :, None, None]
        out = head.out(functional.leaky_relu(head.fine(part[:, :128]) + head.middle(part[:, 128:384]) + head.coarse(part[:, 384:]), 0.1))[:, :, 0, 0]
        truth = labels[chosen]
        loss = functional.binary_cross_entropy_with_logits(out[:, :LABELS], truth.clamp(min=0), reduction="none")
        loss = (loss * (truth >= 0)).mean() * 2 + box_loss(out[:, LABELS:], sides[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print("cells", step + 1, steps, round(loss.item(), 4), flush=True)
    return head.eval()


def weights_of(rows):
    """Groups of one source and label weigh the square root of their number, so that no source outweighs the others."""
    groups = [(row["source"], row["kind"], tuple(row["whole"])) for row in rows]
    counts = {group: groups.count(group) for group in set(groups)}
    weights = torch.tensor([(100 / counts[group]) ** 0.5 for group in groups])
    return weights / weights.mean()


def train_image(rows, features, design, steps=1200):
    torch.manual_seed(SEED)
    head = DESIGNS[design](features.mean(0), features.std(0).clamp(min=0.05))
    optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3, weight_decay=0.3)
    whole = torch.tensor([[-1 if value is None else value for value in row["whole"]] for row in rows], dtype=torch.float32)
    seen, weights = (whole >= 0).float(), weights_of(rows)[:, None]
    generator = torch.Generator().manual_seed(SEED)
    for _ in range(steps):
        chosen = torch.randint(0, len(rows), (128,), generator=generator)
        loss = functional.binary_cross_entropy_with_logits(head(features[chosen]), whole[chosen].clamp(min=0) * 0.96 + 0.02, reduction="none")
        loss = (loss * seen[chosen] * weights[chosen]).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return head.eval()


def groups_of(rows, features, alike=0.75):
    """A name for every photograph that those which look like it share, as frames of one clip do: photographs of one
    source whose standardised features correlate above `alike`, and those that are like them in turn."""
    plain = [i for i, row in enumerate(rows) if row["kind"] == "plain"]
    names = {}
    for source in sorted({rows[i]["source"] for i in plain}):
        mine = [i for i in plain if rows[i]["source"] == source]
        vectors = functional.normalize((features[mine] - features.mean(0)) / features.std(0).clamp(min=0.05))
        near = (vectors @ vectors.T > alike).numpy()
        for start, i in enumerate(mine):
            if rows[i]["file"] in names:
                continue
            waiting = [start]
            while waiting:
                one = waiting.pop()
                if rows[mine[one]]["file"] in names:
                    continue
                names[rows[mine[one]]["file"]] = rows[i]["file"]
                waiting += np.flatnonzero(near[one]).tolist()
    return names


def fold_of(group, folds=4):
    return int(hashlib.md5(group.encode()).hexdigest(), 16) % folds


def scored(rows, features, used, tested, design):
    """Rows of results of `tested` by an image head trained on `used`."""
    head = train_image([rows[i] for i in used], features[used], design)
    with torch.no_grad():
        scores = torch.sigmoid(head(features[tested])).tolist()
    return [{"design": design, "source": rows[i]["source"], "file": rows[i]["file"], "whole": rows[i]["whole"], "scores": s} for i, s in zip(tested, scores)]


def left_out_results(rows, features, designs=tuple(DESIGNS)):
    """Scores of real images by image heads that saw neither them nor their like nor anything made of them: four folds of
    the trained sources; images of a held-out source are scored by the heads of all folds."""
    groups = groups_of(rows, features)
    folds = [fold_of(groups[row["file"]]) for row in rows]
    results = []
    for design in designs:
        for fold in range(4):
            used = [i for i, row in enumerate(rows) if not row["held_out"] and folds[i] != fold]
            tested = [i for i, row in enumerate(rows) if row["kind"] == "plain" and (row["held_out"] or folds[i] == fold)]
            results += scored(rows, features, used, tested, design)
    return results


def source_left_out_results(rows, features, design):
    """Scores of the images of each source with fire by an image head that saw nothing of it."""
    results = []
    for source in sorted({row["source"] for row in rows if row["kind"] == "plain" and row["whole"][0] and not row["held_out"]}):
        used = [i for i, row in enumerate(rows) if not row["held_out"] and row["source"] != source]
        tested = [i for i, row in enumerate(rows) if row["kind"] == "plain" and row["source"] == source]
        results += scored(rows, features, used, tested, design)
    return [{**one, "design": f"{design}, source left out"} for one in results]


def print_table(results):
    for design in sorted({one["design"] for one in results}):
        for label, name in enumerate(("fire", "smoke")):
            for source in sorted({one["source"] for one in results}) + ["all"]:
                mine = [one for one in results if one["design"] == design and source in (one["source"], "all") and one["whole"][label] is not None]
                shown = np.array([one["scores"][label] for one in mine if one["whole"][label]])
                absent = np.array([one["scores"][label] for one in mine if not one["whole"][label]])
                found = lambda least: f"{(shown >= least).mean() if len(shown) else float('nan'):.3f}/{(absent >= least).mean() if len(absent) else float('nan'):.3f}"
                print(f"{design:23} {name:6} {source:17} {len(shown):4} with {len(absent):4} without, found/false at", *(f"{t}: {found(t)}" for t in (0.3, 0.5, 0.7, 0.8, 0.9)), flush=True)


def main(folder, out, steps):
    rows, maps = load(folder)
    print(len(rows), "examples", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    with torch.no_grad():
        features = torch.cat([pooled(*batch_of(maps, range(i, min(i + 32, len(rows))))) for i in range(0, len(rows), 32)])
    used = [i for i, row in enumerate(rows) if not row["held_out"]]
    boxed = [i for i in used if rows[i]["boxes"] or rows[i]["whole"] == [0, 0]]
    cells = train_cells([rows[i] for i in boxed], [maps[i] for i in boxed], steps)
    image = {design: train_image([rows[i] for i in used], features[used], design) for design in DESIGNS}
    torch.save({"image": {name: head.state_dict() for name, head in image.items()}, "cells": cells.state_dict()}, out / "heads.pt")
    results = left_out_results(rows, features) + source_left_out_results(rows, features, "hidden")
    (out / "results.json").write_text(json.dumps(results))
    print_table(results)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))
