"""Frames as supervision draws and counts them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING
from zlib import crc32

from .models import ResultFrame

if TYPE_CHECKING:
    import supervision

OUR_TRACK_ID = re.compile(r"a(\d+)-(\d+)")


def to_supervision(frame: ResultFrame, labels: Sequence[str] | None = None) -> supervision.Detections:
    """The objects of a frame as `supervision.Detections`; needs the extra `vision-client[supervision]`.

    Boxes are in pixels of the frame. `class_id` is the index in `labels`, by default a number made from the label that is
    the same in every frame. `tracker_id` is a number for each track; `data` has `class_name` and `track_id` as they are.

    Give all labels that frames can have, as `Scene.labels` lists them: an object whose label is not in `labels` raises
    ValueError, because no number of the list stands for it. To leave others out, give `labels` to `frames` as well.
    """
    import numpy as np
    import supervision as sv

    if not frame.objects:
        return sv.Detections.empty()
    size = np.array([frame.image.width, frame.image.height] * 2, dtype=float)
    boxes = np.array([[one.bbox.cx, one.bbox.cy, one.bbox.width, one.bbox.height] for one in frame.objects])
    half = boxes[:, 2:] / 2
    names = [one.label for one in frame.objects]
    return sv.Detections(
        xyxy=np.hstack([boxes[:, :2] - half, boxes[:, :2] + half]) * size,
        confidence=np.array([one.score for one in frame.objects]),
        class_id=np.array([_class_of(name, labels) for name in names]),
        tracker_id=np.array([_number_of(one.track_id) for one in frame.objects]),
        data={"class_name": np.array(names), "track_id": np.array([one.track_id for one in frame.objects])},
    )


def _class_of(label: str, labels: Sequence[str] | None) -> int:
    if labels is None:
        return crc32(label.encode()) >> 1
    if label in labels:
        return labels.index(label)
    raise ValueError(
        f"The label {label!r} is not in labels: {list(labels)}. Give all labels of the scene (Scene.labels of "
        "scenes()), or read frames(…, labels=…) with these."
    )


def _number_of(track_id: str) -> int:
    """`a1-7` is 7; tracks of later attempts, and ids of another form, have large numbers."""
    known = OUR_TRACK_ID.fullmatch(track_id)
    if known:
        return (int(known[1]) - 1 << 32) + int(known[2])
    return (1 << 48) + crc32(track_id.encode())
