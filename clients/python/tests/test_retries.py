from __future__ import annotations

import json
import time
from io import BytesIO
from uuid import UUID

import httpx
import pytest
from vision_client import VisionClient, VisionError
from vision_client.models import MissedEvents, WebhookEndpointEvent

TASK = {
    "task_id": "019cf0a3-5b1e-7c44-9a51-6f0d2b7e8c10",
    "request_id": "r",
    "scene_code": "ship",
    "status": "running",
    "result_expires_at": "2026-01-01T00:00:00Z",
    "created_at": "2026-01-01T00:00:00Z",
    "updated_at": "2026-01-01T00:00:00Z",
}


def reply(status, body, content_type="application/json", **headers):
    data = body if isinstance(body, bytes) else json.dumps(body).encode()

    def send(handler):
        handler.send_response(status)
        named = {"content-type": content_type, **{name.replace("_", "-"): value for name, value in headers.items()}}
        for name, value in named.items():
            handler.send_header(name, value)
        handler.send_header("content-length", str(len(data)))
        handler.end_headers()
        handler.wfile.write(data)

    return send


def problem(status, reason, retryable=True, details=None, **headers):
    body = {"type": "t", "title": "t", "status": status, "detail": "d", "instance": "i", "trace_id": "t"}
    return reply(status, {**body, "retryable": retryable, "details": {"reason": reason, **(details or {})}}, **headers)


def broken(_handler):
    """The connection breaks before the head."""


def broken_body(handler):
    handler.send_response(200)
    handler.send_header("content-length", "1000")
    handler.end_headers()
    handler.wfile.write(b'{"task_id":')


def events(text, is_cut=False):
    def send(handler):
        handler.send_response(200)
        handler.send_header("content-type", "text/event-stream")
        if is_cut:
            handler.send_header("content-length", "100000")
        handler.end_headers()
        handler.wfile.write(text.encode())

    return send


def frame_event(seq):
    frame = {"frame_id": f"t-{seq}", "frame_time_ms": seq, "image": {"width": 1, "height": 1}, "objects": []}
    return f"event: frame\nid: c{seq}\ndata: {json.dumps(frame)}\n\n"


END = 'event: end\nid: e\ndata: {"status":"succeeded"}\n\n'


def page(seqs, next_cursor, resume_cursor):
    frames = [json.loads(frame_event(seq).split("data: ")[1]) for seq in seqs]
    return reply(200, {"items": frames, "next_cursor": next_cursor, "resume_cursor": resume_cursor})


@pytest.mark.parametrize(
    "failure",
    [
        broken,
        broken_body,
        problem(429, "too_many_requests", retry_after="0"),
        problem(503, "maintenance", retry_after="0"),
        problem(503, "maintenance"),
        reply(502, b"<html>", "text/html"),
    ],
    ids=["connection", "body", "429", "503", "no Retry-After", "proxy"],
)
def test_a_create_request_is_repeated_under_the_same_key(script, failure):
    service = script(failure, failure, reply(201, TASK))
    with VisionClient(service.url, "vk_1") as vision:
        assert vision.watch_stream("rtsp://camera.example.org/1", "ship", client_ref="gate").status == "running"
    keys = {received.headers["idempotency-key"] for received in service.received}
    assert (len(service.received), len(keys)) == (3, 1)
    assert {received.path for received in service.received} == {"/v1/vision/tasks?client_ref=gate"}


def test_create_requests_carry_what_is_given_and_nothing_else(script):
    service = script(reply(201, TASK))
    with VisionClient(service.url, "vk_1") as vision:
        vision.watch_stream("rtsp://camera.example.org/1", "ship", snapshots="tracks", give_up_after_s=3600)
        vision.upload_video(BytesIO(b"7"), "ship", client_ref="gate", snapshots="off")
        vision.upload_video(BytesIO(b"7"), "ship")
    assert [received.path for received in service.received] == [
        "/v1/vision/tasks?snapshots=tracks&give_up_after_s=3600",
        "/v1/vision/video-tasks?client_ref=gate&snapshots=off",
        "/v1/vision/video-tasks",
    ]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 413, 500])
def test_other_refusals_are_never_repeated(script, status):
    service = script(problem(status, "some_reason", retry_after="0"))
    with VisionClient(service.url, "vk_1") as vision, pytest.raises(VisionError) as refusal:
        vision.task("one")
    assert (refusal.value.problem.details.reason, len(service.received)) == ("some_reason", 1)


def test_a_wait_beyond_the_limit_is_refused_at_once(script):
    service = script(problem(429, "daily_quota_exhausted", retry_after="3600"))
    with VisionClient(service.url, "vk_1") as vision, pytest.raises(VisionError, match="daily_quota_exhausted"):
        vision.task("one")
    assert len(service.received) == 1


def test_retry_after_is_waited_for_entirely(script):
    service = script(problem(429, "too_many_requests", retry_after="1"), reply(200, TASK))
    started = time.monotonic()
    with VisionClient(service.url, "vk_1") as vision:
        vision.task("one")
    assert time.monotonic() - started >= 1


def test_a_service_out_of_reach_is_given_up_after_the_limit(script):
    service = script(broken)
    with VisionClient(service.url, "vk_1", max_retry_s=0.5) as vision, pytest.raises(httpx.TransportError):
        vision.task("one")
    assert len(service.received) > 1


def test_an_upload_is_sent_again_from_its_first_byte(script):
    service = script(broken, reply(201, TASK))
    progress = []
    with VisionClient(service.url, "vk_1") as vision:
        vision.upload_video(BytesIO(b"7" * 300_000), "ship", on_progress=progress.append)
    assert all(received.body.count(b"7" * 300_000) == 1 for received in service.received)
    assert len(service.received) == 2
    assert progress[-1] == 300_000


def test_frames_continue_behind_the_last_one(script):
    service = script(
        events("retry: 1\n\n" + frame_event(0) + frame_event(1)),
        events("retry: 1\n\n" + frame_event(2) + ":\nid: c3\n\n", is_cut=True),
        broken,
        problem(503, "unavailable", retry_after="0"),
        events(frame_event(4) + END),
    )
    with VisionClient(service.url, "vk_1") as vision, vision.frames("one", min_score=0.5) as frames:
        assert [frame.frame_id for frame in frames] == ["t-0", "t-1", "t-2", "t-4"]
        assert frames.cursor == "e"
    assert [received.headers.get("last-event-id") for received in service.received] == [None, "c1", "c3", "c3", "c3"]
    assert {received.path for received in service.received} == {"/v1/vision/tasks/one/results/stream?min_score=0.5"}


@pytest.mark.parametrize(
    "refusal",
    [
        problem(404, "not_found", retryable=False),
        problem(429, "too_many_in_flight", details={"limit": "event_streams"}, retry_after="1"),
        reply(200, {}),
    ],
    ids=["no such operation", "no stream left", "a proxy"],
)
def test_pages_take_over(script, refusal):
    cut = events("retry: 1\n\n" + frame_event(0), is_cut=True)
    service = script(cut, refusal, page([1, 2], "p2", "p2"), broken, page([3], "", "p3"), page([4], "", ""))
    with VisionClient(service.url, "vk_1") as vision:
        frames = vision.frames("one")
        assert [frame.frame_id for frame in frames] == ["t-0", "t-1", "t-2", "t-3", "t-4"]
        assert list(vision.frames("one", cursor=frames.cursor)) == []
    assert [received.path.split("cursor=")[1] for received in service.received[2:]] == ["c0", "p2", "p2", "p3"]


def logged(n, kind="task.running", data=None):
    task = {**TASK, "status": "running"}
    event = {"event_id": str(UUID(int=n)), "type": kind, "timestamp": "2026-03-15T08:30:01Z", "sequence": n}
    return {**event, "data": data or {"task": task}}


def logged_event(event):
    return f"event: {event['type']}\nid: c{event['sequence']}\ndata: {json.dumps(event)}\n\n"


def test_events_continue_behind_the_last_one(script):
    unknown = logged(2, "task.paused")
    service = script(
        events("retry: 1\n\n:\nid: c0\n\n" + logged_event(logged(1)) + logged_event(unknown)),
        broken,
        events("retry: 1\n\n:\nid: c2\n\n" + logged_event(logged(3))),
    )
    with VisionClient(service.url, "vk_1") as vision, vision.events(types=["task.running"]) as log:
        assert [next(log).sequence, next(log).sequence] == [1, 3]
        assert log.cursor == "c3"
    assert [received.headers.get("last-event-id") for received in service.received] == [None, "c2", "c2"]
    assert {received.path for received in service.received} == {"/v1/vision/events/stream?types=task.running"}


@pytest.mark.parametrize(
    ("kind", "data", "model"),
    [
        ("webhook_endpoint.disabled", {"endpoint_id": "hook", "reason": "gone"}, WebhookEndpointEvent),
        ("mqtt_endpoint.disabled", {"endpoint_id": "broker", "reason": "failing"}, WebhookEndpointEvent),
        ("events.missed", {"endpoint_id": "hook", "first_sequence": 3, "last_sequence": 5}, MissedEvents),
    ],
)
def test_events_that_are_about_no_task_are_given_too(script, kind, data, model):
    service = script(events("retry: 1\n\n" + logged_event(logged(1, kind, data))))
    with VisionClient(service.url, "vk_1") as vision, vision.events() as log:
        event = next(log)
    assert isinstance(event, model)
    assert event.type == kind
    assert event.data.model_dump(exclude_none=True) == data


def test_events_from_pages_begin_with_the_next_one(script):
    def log_page(ns, cursor):
        return reply(200, {"items": [logged(n) for n in ns], "next_cursor": cursor, "resume_cursor": cursor})

    refusal = problem(429, "too_many_in_flight", details={"limit": "event_streams"}, retry_after="1")
    service = script(refusal, log_page([7], "p7"), log_page([8, 9], "p9"))
    with VisionClient(service.url, "vk_1") as vision, vision.events() as log:
        assert [next(log).sequence, next(log).sequence] == [8, 9]
    paths = [received.path for received in service.received[1:]]
    assert paths == ["/v1/vision/events?order=newest&limit=1", "/v1/vision/events?cursor=p7"]


def test_a_refusal_of_the_stream_is_raised(script):
    service = script(problem(404, "task_not_found", retryable=False))
    with VisionClient(service.url, "vk_1") as vision, pytest.raises(VisionError, match="task_not_found"):
        next(vision.frames("one"))


@pytest.mark.parametrize(("retry", "expected"), [("0", 0.1), ("99999999999999999999", 60.0)])
def test_a_service_does_not_choose_any_time_before_the_next_connection(script, monkeypatch, retry, expected):
    class LeftError(Exception):
        pass

    waits = []

    def wait(seconds):
        waits.append(seconds)
        raise LeftError

    service = script(events(f"retry: {retry}\nid: c\n\n"))
    monkeypatch.setattr("vision_client.iterators.time.sleep", wait)
    with VisionClient(service.url, "vk_1") as vision, pytest.raises(LeftError):
        next(vision.frames("one"))
    assert waits == [expected]


@pytest.mark.parametrize("value", ["\xb2", "soon", "Mon, 01 Jan 99999 00:00:00 GMT", "-1"])
def test_a_retry_after_that_cannot_be_read_is_passed_over(script, value):
    service = script(problem(503, "maintenance", retry_after=value), reply(200, TASK))
    with VisionClient(service.url, "vk_1") as vision:
        assert vision.task("one").status == "running"
    assert len(service.received) == 2


def test_an_id_names_a_task_and_no_other_operation(script):
    service = script(reply(200, TASK))
    with VisionClient(service.url, "vk_1") as vision:
        vision.stop("../webhook-endpoints/e/test?")
        with pytest.raises(ValueError, match="task_id"):
            vision.stop("..")
    assert [received.path for received in service.received] == [
        "/v1/vision/tasks/..%2Fwebhook-endpoints%2Fe%2Ftest%3F/stop"
    ]
