"""Trackers of PyPI on the detections of the benchmark, and its figures computed by others.

Reads one JSON document from standard input and writes one to standard output; see peers.ts.
"""

import json
import sys

import numpy as np
import supervision as sv
from trackers import ByteTrackTracker, OCSORTTracker, SORTTracker

# What the papers and these implementations have in common: forget after a second (30 frames of 30), show from 0.5.
# Each runs as it ships, and with the thresholds at which boxes are shown here ("tuned"): no track waits to be shown.
TRACKERS = {
    "SORT": lambda fps: SORTTracker(frame_rate=fps),
    "SORT, tuned": lambda fps: SORTTracker(
        frame_rate=fps, lost_track_buffer=60, minimum_consecutive_frames=1, track_activation_threshold=0.5, minimum_iou_threshold=0.1
    ),
    "ByteTrack": lambda fps: ByteTrackTracker(frame_rate=fps),
    "ByteTrack, tuned": lambda fps: ByteTrackTracker(
        frame_rate=fps,
        lost_track_buffer=60,
        minimum_consecutive_frames=1,
        track_activation_threshold=0.5,
        high_conf_det_threshold=0.5,
    ),
    "OC-SORT": lambda fps: OCSORTTracker(frame_rate=fps),
}
# Trackers need not be told the size of a picture, but some of them count in pixels.
HEIGHT = 576


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


def main():
    sequences = json.load(sys.stdin)
    json.dump(
        {name: [follow(make(one["fps"]), one) for one in sequences] for name, make in TRACKERS.items()}, sys.stdout
    )


main()
