"""Trains the two heads on cached features.

Usage: train.py FEATURES OUT_DIR STEPS

Writes OUT_DIR/heads.pt, trained on everything but sources that are held out, and OUT_DIR/results.json: scores of real
images by heads that saw nothing of their whole source, for every design of the image head.
"""

import json
import pathlib
import sys
import time

import numpy as np
import torch
from torch.nn import functional

from features import GRID
from heads import BINS, COARSE, DESIGNS, FINE, LABELS, MIDDLE, STRIDE, Cells, named_heads, scores_of

SEED, BATCH = 25, 32
TWIN = 0.75  # correlation of standardised pooled features
SIZES = (FINE * GRID * GRID, MIDDLE * GRID * GRID, COARSE * GRID * GRID // 4)
# Sources that are left out together: each part has fires, and photographs without any.
FOLDS = [
    ["emergencies", "sunrises", "skies", "streets-korea", "streets-seoul"],
    ["forest-fire", "ships", "butterflies", "laboratory"],
    ["outdoor-fire", "street-bins", "vegetables", "tomatoes"],
    ["cctv-fire", "small-flames", "building-sites", "cars", "traffic-lights"],
]


class Examples:
    """Rows, what the image head sees of them, and where their maps are."""

    def __init__(self, folder):
        files = sorted(folder.glob("rows-*.json"))
        beside = lambda file, name: str(file).replace("rows", name).replace("json", "npy")
        rows = [row for file in files for row in json.loads(file.read_text())]
        # The same order for any number of shards; variants of a photograph are in one shard, in their order.
        order = sorted(range(len(rows)), key=lambda i: rows[i]["file"])
        self.rows = [rows[i] for i in order]
        self.pooled = torch.from_numpy(np.concatenate([np.load(beside(file, "pooled")) for file in files]))[order]
        maps = [np.load(beside(file, "maps"), mmap_mode="r") for file in files]
        maps = [(part, index) for part in maps for index in range(len(part))]
        self.maps = [maps[i] for i in order]

    def maps_of(self, chosen):
        """(fine, middle, coarse) of the chosen examples."""
        flat = torch.from_numpy(np.stack([self.maps[i][0][self.maps[i][1]] for i in chosen])).float()
        fine, middle, coarse = torch.split(flat, SIZES, dim=1)
        return fine.reshape(-1, FINE, GRID, GRID), middle.reshape(-1, MIDDLE, GRID, GRID), coarse.reshape(-1, COARSE, GRID // 2, GRID // 2)


def targets_of(row):
    """Cell labels (1 inside a box, 0 outside, -1 not known) and the box of each positive cell."""
    centre = (np.arange(GRID) + 0.5) * STRIDE
    x, y = np.meshgrid(centre, centre)
    labels = np.zeros((LABELS, GRID, GRID), np.float32)
    boxes = np.zeros((GRID, GRID, 4), np.float32)
    for label in range(LABELS):
        if row["whole"][label] is None or (row["whole"][label] and not any(box[0] == label for box in row["boxes"])):
            labels[label] = -1
    for label, x1, y1, x2, y2 in sorted(row["boxes"], key=lambda box: -(box[3] - box[1]) * (box[4] - box[2])):
        reach_x, reach_y = max((x2 - x1) * 0.3, STRIDE * 0.51), max((y2 - y1) * 0.3, STRIDE * 0.51)
        inner = (np.abs(x - (x1 + x2) / 2) < reach_x) & (np.abs(y - (y1 + y2) / 2) < reach_y)
        edge = (x > x1) & (x < x2) & (y > y1) & (y < y2)
        labels[label][edge & (labels[label] == 0)] = -1
        labels[label][inner] = 1
        boxes[inner] = (x1, y1, x2, y2)
    return labels, boxes


def sides_of(boxes):
    """Distances of each cell's centre from the sides of its box: (4, GRID, GRID)."""
    centre = (np.arange(GRID) + 0.5) * STRIDE
    x, y = np.meshgrid(centre, centre)
    return np.stack([x - boxes[..., 0], y - boxes[..., 1], boxes[..., 2] - x, boxes[..., 3] - y]).astype(np.float32)


def box_loss(logits, want):
    """One minus the overlap of boxes that share their centre cell: (cells, 4 * BINS) and (cells, 4)."""
    want = want.clamp(min=1)
    got = (logits.reshape(-1, 4, BINS).softmax(-1) * torch.arange(BINS)).sum(-1) * STRIDE
    area = lambda box: (box[:, 0] + box[:, 2]) * (box[:, 1] + box[:, 3])
    common = area(torch.minimum(got, want))
    return 1 - common / (area(got) + area(want) - common).clamp(min=1)


def cells_loss(cells, rows):
    """Of cells (focal: most show nothing) and of their boxes."""
    targets = [targets_of(row) for row in rows]
    truth = torch.from_numpy(np.stack([labels for labels, _ in targets]))
    guess = cells[:, :LABELS]
    loss = functional.binary_cross_entropy_with_logits(guess, truth.clamp(min=0), reduction="none")
    missed = torch.where(truth == 1, 1 - torch.sigmoid(guess), torch.sigmoid(guess)).detach()
    total = (loss * missed**2 * (truth >= 0)).sum() / (truth == 1).sum().clamp(min=20)
    boxed = (truth == 1).any(1)
    if boxed.any():
        sides = torch.from_numpy(np.stack([sides_of(boxes) for _, boxes in targets]))
        lost = box_loss(cells[:, LABELS:].permute(0, 2, 3, 1)[boxed], sides.permute(0, 2, 3, 1)[boxed])
        total = total + lost.mean()
    return total


def weights_of(rows):
    """Groups of one source and label are drawn by the square root of their number, so that none outweighs the others;
    images with fire are half of what is drawn."""
    groups = [(row["source"], row["kind"], tuple(row["whole"])) for row in rows]
    counts = {group: groups.count(group) for group in set(groups)}
    weights = np.array([counts[group] ** -0.5 for group in groups])
    fire = np.array([row["whole"][0] == 1 for row in rows])
    weights[fire] *= 0.5 / weights[fire].sum()
    weights[~fire] *= 0.5 / weights[~fire].sum()
    return weights


def drawn(examples, used, random, size):
    weights = weights_of([examples.rows[i] for i in used])
    while True:
        yield [used[i] for i in random.choice(len(used), size, p=weights)]


def train_cells(examples, used, steps, name):
    torch.manual_seed(SEED)
    head, begun = Cells().train(), time.time()
    optimizer = torch.optim.AdamW(head.parameters(), lr=2e-3, weight_decay=0.02)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 3e-3, total_steps=steps + 1, pct_start=0.1)
    for step, chosen in zip(range(steps), drawn(examples, used, np.random.default_rng(SEED), BATCH)):
        loss = cells_loss(head(*examples.maps_of(chosen)), [examples.rows[i] for i in chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        if step % 100 == 99:
            print("cells", name, step + 1, "of", steps, round(loss.item(), 3), f"{time.time() - begun:.0f} s", flush=True)
    return head.eval()


def train_image(examples, used, design, steps=1200):
    torch.manual_seed(SEED)
    features = examples.pooled[used]
    head = DESIGNS[design](features.mean(0), features.std(0).clamp(min=0.05)).train()
    optimizer = torch.optim.AdamW(head.parameters(), lr=1e-3, weight_decay=0.3)
    whole = torch.tensor([[-1 if value is None else value for value in row["whole"]] for row in examples.rows], dtype=torch.float32)
    for _, chosen in zip(range(steps), drawn(examples, used, np.random.default_rng(SEED), 128)):
        truth = whole[chosen]
        loss = functional.binary_cross_entropy_with_logits(head(examples.pooled[chosen]), truth.clamp(min=0) * 0.96 + 0.02, reduction="none")
        loss = (loss * (truth >= 0)).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return head.eval()


def train_images(examples, used):
    return {design: train_image(examples, used, design).state_dict() for design in DESIGNS}


def scored(examples, tested, cells, image, design):
    """Image score and raw score (of the best cell) of fire and smoke for each tested row."""
    results = []
    with torch.no_grad():
        for start in range(0, len(tested), 32):
            chosen = tested[start : start + 32]
            logits = image(examples.pooled[chosen])
            best = scores_of(logits, cells(*examples.maps_of(chosen))).flatten(2).amax(2)
            for i, whole, raw in zip(chosen, torch.sigmoid(logits).tolist(), best.tolist()):
                row = examples.rows[i]
                results.append({"design": design, "source": row["source"], "file": row["file"], "whole": row["whole"], "image": whole, "raw": raw})
    return results


def without_twins(examples, used, tested):
    """The tested images that are like none of the used ones: collections share photographs."""
    mean, std = examples.pooled[used].mean(0), examples.pooled[used].std(0).clamp(min=0.05)
    vectors = functional.normalize((examples.pooled - mean) / std)
    nearest = (vectors[tested] @ vectors[used].T).amax(1)
    return [i for i, near in zip(tested, nearest.tolist()) if near < TWIN]


def left_out_results(examples, kept, steps):
    results = []
    for number, names in enumerate(FOLDS):
        used = [i for i in kept if examples.rows[i]["source"] not in names]
        tested = [i for i in kept if examples.rows[i]["source"] in names and examples.rows[i]["kind"] == "plain"]
        tested = without_twins(examples, used, tested)
        cells = train_cells(examples, used, steps, f"without part {number + 1}")
        for design, image in named_heads(train_images(examples, used)).items():
            results += scored(examples, tested, cells, image.eval(), design)
    return results


def print_table(results):
    """Found and false rates. The thresholds are those that 3 and 5 % of the images with neither fire nor smoke reach."""
    for design in sorted({one["design"] for one in results}):
        mine = [one for one in results if one["design"] == design]
        plain = np.array([one["raw"][0] for one in mine if one["whole"] == [0, 0]])
        for false in (0.03, 0.05):
            least = np.quantile(plain, 1 - false)
            print(f"{design}: {false:.0%} of {len(plain)} false at {least:.3f}")
            for source in [*sorted({one["source"] for one in mine}), "all"]:
                for whole, name in ((1, "fire found"), (0, "no fire, false")):
                    raw = np.array([one["raw"][0] for one in mine if source in (one["source"], "all") and one["whole"][0] == whole])
                    if len(raw):
                        print(f"    {source:16} {name:14} {len(raw):5}  {(raw >= least).mean():.3f}")


def main(folder, out, steps):
    examples = Examples(folder)
    print(len(examples.rows), "examples", flush=True)
    out.mkdir(parents=True, exist_ok=True)
    kept = [i for i, row in enumerate(examples.rows) if not row["held_out"]]
    cells = train_cells(examples, kept, steps, "of everything")
    torch.save({"image": train_images(examples, kept), "cells": cells.state_dict()}, out / "heads.pt")
    results = left_out_results(examples, kept, steps)
    (out / "results.json").write_text(json.dumps(results))
    print_table(results)


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]), int(sys.argv[3]))
