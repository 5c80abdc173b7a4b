from __future__ import annotations

import pytest
from vision_client import to_supervision
from vision_client.models import ResultFrame

pytest.importorskip("supervision")


def frame_with(*labels: str) -> ResultFrame:
    box = {"format": "cxcywh_normalized", "cx": 0.5, "cy": 0.5, "width": 0.1, "height": 0.2}
    objects = [{"label": label, "score": 0.9, "bbox": box, "track_id": "a1-1"} for label in labels]
    frame = {"frame_id": "f", "frame_time_ms": 0, "image": {"width": 1280, "height": 720}, "objects": objects}
    return ResultFrame.model_validate(frame)


def test_class_ids_are_those_of_the_given_labels() -> None:
    detections = to_supervision(frame_with("car", "person"), ["person", "bicycle", "car"])
    assert list(detections.class_id) == [2, 0]


def test_class_ids_without_labels_are_the_same_in_every_frame() -> None:
    first, second = to_supervision(frame_with("car", "person")), to_supervision(frame_with("person"))
    assert first.class_id[1] == second.class_id[0] != first.class_id[0]


@pytest.mark.parametrize("labels", [["person"], []])
def test_a_label_that_is_not_given_is_named_with_what_to_do(labels: list[str]) -> None:
    with pytest.raises(ValueError, match=r"'car' is not in labels.*Scene\.labels"):
        to_supervision(frame_with("car"), labels)
