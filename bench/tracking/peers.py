"""Trackers and metrics of PyPI (trackers: Apache-2.0, py-motmetrics: MIT) on what the benchmark made; see peers.ts.

Reads one JSON document from standard input and writes one to standard output.
"""

import json
import sys

import motmetrics
import numpy as np
import supervision as sv
from trackers import ByteTrackTracker, SORTTracker
from trackers.eval.hota import compute_hota_metrics

# As they ship; and "tuned": remembering for two seconds like ours, from the first frame on, with the score at which boxes
# are shown here, and for SORT the overlap that ByteTrack asks for.
TUNED = {"lost_track_buffer": 60, "minimum_consecutive_frames": 1, "track_activation_threshold": 0.5}
TRACKERS = {
    "SORT": lambda fps: SORTTracker(frame_rate=fps),
    "SORT, tuned": lambda fps: SORTTracker(frame_rate=fps, minimum_iou_threshold=0.1, **TUNED),
    "ByteTrack": lambda fps: ByteTrackTracker(frame_rate=fps),
    "ByteTrack, tuned": lambda fps: ByteTrackTracker(frame_rate=fps, high_conf_det_threshold=0.5, **TUNED),
}
# Some of them count in pixels; the example clip has this many.
HEIGHT = 576
LEAST_IOU = 0.5


def follow(tracker, sequence):
    scale = np.array([HEIGHT * sequence["aspect"], HEIGHT] * 2)
    frames = []
    for found in sequence["frames"]:
        boxes = np.array([box[:4] for box in found], dtype=float).reshape(-1, 4) * scale
        scores = np.array([box[4] for box in found], dtype=float)
        seen = tracker.update(sv.Detections(xyxy=boxes, confidence=scores, class_id=np.zeros(len(found), dtype=int)))
        frames.append(
            [
                [int(identity), *(float(side) for side in box / scale), float(score)]
                for identity, box, score in zip(seen.tracker_id, seen.xyxy, seen.confidence)
                if identity >= 0
            ]
        )
    return frames


def overlaps(truth, shown):
    """Intersection over union of boxes given as corners."""
    a, b = (np.array(boxes, dtype=float).reshape(-1, 4) for boxes in (truth, shown))
    low = np.maximum(a[:, None, :2], b[None, :, :2])
    high = np.minimum(a[:, None, 2:], b[None, :, 2:])
    shared = np.prod(np.clip(high - low, 0, None), axis=2)
    area = lambda boxes: np.prod(boxes[:, 2:] - boxes[:, :2], axis=1)
    return shared / (area(a)[:, None] + area(b)[None, :] - shared)


def judge(frames):
    """MOTA, IDF1, HOTA in percent and identity switches of what a tracker showed."""
    numbers = {}
    number = lambda identity: numbers.setdefault(identity, len(numbers))
    accumulator = motmetrics.MOTAccumulator(auto_id=True)
    true_ids, shown_ids, similarities = [], [], []
    for truth, shown in frames:
        ids = np.array([box[0] for box in truth], dtype=int)
        found = np.array([number(box[0]) for box in shown], dtype=int)
        likeness = overlaps([box[1:] for box in truth], [box[1:] for box in shown])
        accumulator.update(ids, found, np.where(likeness >= LEAST_IOU, 1 - likeness, np.nan))
        true_ids.append(ids)
        shown_ids.append(found)
        similarities.append(likeness)
    summary = motmetrics.metrics.create().compute(accumulator, metrics=["mota", "idf1", "num_switches"], name="one")
    mota, idf1, switches = (float(summary[name].iloc[0]) for name in ("mota", "idf1", "num_switches"))
    renumber = {identity: index for index, identity in enumerate(sorted({i for ids in true_ids for i in ids}))}
    true_ids = [np.array([renumber[identity] for identity in ids], dtype=int) for ids in true_ids]
    hota = float(compute_hota_metrics(true_ids, shown_ids, similarities)["HOTA"])
    return {"mota": 100 * mota, "idf1": 100 * idf1, "hota": 100 * hota, "switches": switches}


def main():
    question = json.load(sys.stdin)
    answer = {
        "followed": {
            name: [follow(make(one["fps"]), one) for one in question["sequences"]] for name, make in TRACKERS.items()
        },
        "judged": [judge(frames) for frames in question["shown"]],
    }
    json.dump(answer, sys.stdout)


main()
