from __future__ import annotations

import os
import random
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import suppress
from io import BytesIO
from urllib.parse import urlsplit

import pytest
from conftest import ROOT
from vision_client import VisionClient, VisionError, to_supervision
from vision_client.models import Task

VIDEO = ROOT / "examples/street.mp4"


@pytest.fixture(scope="module")
def task(vision: VisionClient) -> Task:
    progress: list[int] = []
    created = vision.upload_video(VIDEO, "person_vehicle", on_progress=progress.append)
    assert progress[-1] == VIDEO.stat().st_size
    return created


def test_frames_come_once_and_in_order_until_the_task_has_ended(vision: VisionClient, task: Task) -> None:
    times = [frame.frame_time_ms for frame in vision.frames(task.task_id, min_score=0.5)]
    assert len(times) > 10
    assert times == sorted(set(times))
    assert vision.wait_for(task).status == "succeeded"
    tracks = list(vision.tracks(task.task_id, order="oldest", labels="person"))
    assert len(tracks) > 3
    with pytest.raises(VisionError) as refusal:
        vision.stop(task.task_id)
    assert refusal.value.problem.details.reason == "task_ended"
    assert vision.usage().video.used == 1


def test_a_kept_cursor_continues_in_another_reader(vision: VisionClient, task: Task) -> None:
    every = [frame.frame_id for frame in vision.frames(task.task_id)]
    with vision.frames(task.task_id) as first:
        taken = [next(first).frame_id for _ in range(7)]
    assert taken + [frame.frame_id for frame in vision.frames(task.task_id, cursor=first.cursor)] == every


@pytest.fixture
def cutter() -> Iterator[str]:
    """An address of the system whose connections break after some kilobytes."""
    target = urlsplit(os.environ["BASE_URL"])
    listener = socket.create_server(("127.0.0.1", 0))
    generator = random.Random(7)

    def relay(client: socket.socket) -> None:
        with suppress(OSError), client, socket.create_connection((target.hostname, target.port)) as server:
            server.settimeout(10)
            left = generator.randrange(2_000, 12_000)
            server.sendall(client.recv(65536))
            while left > 0 and (data := server.recv(min(left, 4096))):
                client.sendall(data)
                left -= len(data)
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")

    def accept() -> None:
        while True:
            try:
                client, _address = listener.accept()
            except OSError:
                return
            threading.Thread(target=relay, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    listener.shutdown(socket.SHUT_RDWR)
    listener.close()


def test_connections_that_break_lose_and_repeat_no_frame(
    vision: VisionClient, task: Task, cutter: str, api_key: str
) -> None:
    every = [frame.frame_id for frame in vision.frames(task.task_id, min_score=0)]
    with VisionClient(cutter, api_key) as unlucky:
        assert [frame.frame_id for frame in unlucky.frames(task.task_id, min_score=0)] == every


def test_images_are_detected_and_a_broken_one_fails_alone(vision: VisionClient) -> None:
    street = (ROOT / "examples/street.jpg").read_bytes()
    detection = vision.detect([BytesIO(street), BytesIO(street[:2000])], "person_vehicle")
    assert [result.status for result in detection.results] == ["succeeded", "failed"]
    assert "person_vehicle" in [scene.scene_code for scene in vision.scenes()]


def test_frames_become_detections_of_supervision(vision: VisionClient, task: Task) -> None:
    pytest.importorskip("supervision")
    frame = next(frame for frame in vision.frames(task.task_id) if len(frame.objects) > 1)
    detections = to_supervision(frame)
    assert list(detections.data["class_name"]) == [one.label for one in frame.objects]
    assert [f"a1-{number}" for number in detections.tracker_id] == [one.track_id for one in frame.objects]
    for (left, top, right, bottom), one in zip(detections.xyxy, frame.objects):
        assert 0 <= left < right <= frame.image.width and 0 <= top < bottom <= frame.image.height
        assert (left + right) / 2 == pytest.approx(one.bbox.cx * frame.image.width)
    assert len(to_supervision(frame.model_copy(update={"objects": []}))) == 0


def test_the_first_program_of_readme_has_twelve_lines_at_most_and_runs(api_key: str) -> None:
    found = re.search(r"```python\n(.*?)```", (ROOT / "README.md").read_text(), re.DOTALL)
    assert found
    assert len([line for line in found[1].splitlines() if line]) <= 12
    env = {**os.environ, "API_KEY": api_key}
    done = subprocess.run(
        [sys.executable, "-c", found[1]], cwd=ROOT, env=env, capture_output=True, text=True, check=True
    )
    assert re.search(r"^\d+ person a?\S+$", done.stdout, re.MULTILINE)
    assert re.search(r"^person from \d+ to \d+ ms$", done.stdout, re.MULTILINE)
    assert done.stdout.endswith("succeeded\n")
