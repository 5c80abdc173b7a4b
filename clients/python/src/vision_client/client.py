"""The client."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any, Literal
from urllib.parse import quote
from uuid import UUID, uuid4

import httpx

from .connection import Connection
from .events import Event, parse_event
from .iterators import Step, VisionIterator, follow_pages, stream_items
from .models import ImageDetection, ResultFrame, Scene, SceneList, Task, Track, Usage

File = str | Path | IO[bytes]
Snapshots = Literal["off", "tracks"]
FINAL = ("stopped", "succeeded", "failed", "refunded")
FRAMES_A_PAGE = 200
FRAMES_POLL_S = 0.3
TRACKS_POLL_S = 1.0
EVENTS_POLL_S = 1.0


class VisionClient:
    """A client of the public API.

    Failed connections and the answers 429 and 503 are retried, for `max_retry_s` at most and as `Retry-After` asks, under
    the same Idempotency-Key; every other refusal is raised as a VisionError.
    """

    def __init__(
        self, base_url: str, api_key: str, *, max_retry_s: float = 60.0, transport: httpx.BaseTransport | None = None
    ) -> None:
        self._connection = Connection(base_url, api_key, max_retry_s, transport)

    def __enter__(self) -> VisionClient:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the connections."""
        self._connection.http.close()

    def request(self, method: str, path: str, **options: Any) -> Any:
        """The parsed JSON body of any operation, with the options of httpx; for what has no method of its own."""
        return self._connection.request(method, path, **options)

    def scenes(self) -> list[Scene]:
        return SceneList.model_validate(self.request("GET", "/api/op/v1/scenes")).scenes

    def usage(self) -> Usage:
        return Usage.model_validate(self.request("GET", "/v1/vision/usage"))

    def watch_stream(
        self,
        stream_url: str,
        scene_code: str,
        *,
        idempotency_key: UUID | None = None,
        client_ref: str | None = None,
        snapshots: Snapshots | None = None,
        give_up_after_s: int | None = None,
    ) -> Task:
        """Creates a task for a stream. `submitting` and `resolving` mean that it is accepted: do not create another."""
        body = {"stream_url": stream_url, "scene_code": scene_code}
        headers = {"idempotency-key": str(idempotency_key or uuid4())}
        query = _given(client_ref=client_ref, snapshots=snapshots, give_up_after_s=give_up_after_s)
        return Task.model_validate(self.request("POST", "/v1/vision/tasks", json=body, headers=headers, params=query))

    def upload_video(
        self,
        file: File,
        scene_code: str,
        *,
        idempotency_key: UUID | None = None,
        client_ref: str | None = None,
        snapshots: Snapshots | None = None,
        on_progress: Callable[[int], None] | None = None,
    ) -> Task:
        """Creates a task for a video, MP4 or MOV. `on_progress` is called with the bytes of the file sent so far."""
        query = _given(client_ref=client_ref, snapshots=snapshots)
        form = {"scene_code": scene_code}
        files: list[tuple[str, File]] = [("file", file)]
        return Task.model_validate(
            self._send_form("/v1/vision/video-tasks", form, files, query, idempotency_key, on_progress)
        )

    def detect(
        self,
        files: Sequence[File],
        scene_code: str | None = None,
        *,
        idempotency_key: UUID | None = None,
        client_ref: str | None = None,
    ) -> ImageDetection:
        """Detects objects in 1 to 10 images."""
        query = _given(client_ref=client_ref)
        form = _given(scene_code=scene_code)
        named: list[tuple[str, File]] = [("files", file) for file in files]
        return ImageDetection.model_validate(
            self._send_form("/v1/vision/image-detections", form, named, query, idempotency_key, None)
        )

    def task(self, task_id: UUID | str) -> Task:
        return Task.model_validate(self.request("GET", _path_of(task_id)))

    def stop(self, task_id: UUID | str) -> Task:
        return Task.model_validate(self.request("POST", f"{_path_of(task_id)}/stop"))

    def wait_for(self, task: Task) -> Task:
        """The task once it has ended: `stopped`, `succeeded`, `failed` or `refunded`."""
        wait = 0.25
        while (current := self.task(task.task_id)).status not in FINAL:
            time.sleep(wait)
            wait = min(wait * 1.5, 5.0)
        return current

    def frames(self, task_id: UUID | str, *, cursor: str | None = None, **query: Any) -> VisionIterator[ResultFrame]:
        """Every frame of a task once, as it is stored, until the task has ended; goes on over updates of the service.

        `query`: parameters of the result stream, such as `min_score`, `labels`, `from_ms`, `region`.
        """
        return VisionIterator(self._frame_steps(f"{_path_of(task_id)}/results", cursor, query), cursor)

    def tracks(self, task_id: UUID | str, *, cursor: str | None = None, **query: Any) -> VisionIterator[Track]:
        """The tracks of a task; with `order="changed"`, the default, each again with its latest state, until the end."""
        load = self._pages(f"{_path_of(task_id)}/tracks", {"order": "changed", **query})
        return VisionIterator(follow_pages(load, Track.model_validate, cursor, TRACKS_POLL_S), cursor)

    def events(self, *, cursor: str | None = None, types: Sequence[str] | None = None) -> VisionIterator[Event]:
        """The events of all your tasks, as they are logged, without end; without a cursor from the next one on.

        Keep `cursor` and pass it on to miss none; an event may come again, with the same `event_id`. Types that this
        client does not know are left out.
        """
        query = {} if types is None else {"types": ",".join(types)}
        return VisionIterator(self._event_steps(cursor, query), cursor)

    def _event_steps(self, cursor: str | None, query: dict[str, Any]) -> Generator[Step[Event], None, None]:
        path = "/v1/vision/events"
        rest = yield from stream_items(self._connection, f"{path}/stream", query, parse_event, cursor)
        at = rest[0] if rest else None
        if at is None:
            # Without a place to go on from, events begin with the next one, as in a stream.
            at = self.request("GET", path, params={**query, "order": "newest", "limit": 1})["resume_cursor"]
        yield from follow_pages(self._pages(path, query), parse_event, at, EVENTS_POLL_S)

    def _frame_steps(
        self, path: str, cursor: str | None, query: dict[str, Any]
    ) -> Generator[Step[ResultFrame], None, None]:
        if cursor == "":
            return
        parse = ResultFrame.model_validate_json
        rest = yield from stream_items(self._connection, f"{path}/stream", query, parse, cursor, "frame")
        if rest is None:
            return
        load = self._pages(path, {**query, "limit": FRAMES_A_PAGE})
        yield from follow_pages(load, ResultFrame.model_validate, rest[0], FRAMES_POLL_S)

    def _pages(self, path: str, query: dict[str, Any]) -> Callable[[str | None], dict[str, Any]]:
        return lambda cursor: self.request("GET", path, params={**query, **_given(cursor=cursor)})

    def _send_form(
        self,
        path: str,
        form: dict[str, str],
        files: list[tuple[str, File]],
        query: dict[str, str],
        key: UUID | None,
        on_progress: Callable[[int], None] | None,
    ) -> Any:
        headers = {"idempotency-key": str(key or uuid4())}
        with ExitStack() as opened:
            streams = [(field, _name_of(file), _open(file, opened)) for field, file in files]
            parts = [(field, name, stream, _type_of(stream)) for field, name, stream in streams]

            def build() -> httpx.Request:
                for _field, _name, stream, _kind in parts:
                    stream.seek(0)
                sent = [(field, (name, _Counted(stream, on_progress), kind)) for field, name, stream, kind in parts]
                return self._connection.http.build_request(
                    "POST", path, data=form, files=sent, params=query, headers=headers
                )

            return self._connection.send(build).json()


class _Counted:
    """A file that reports how much of it was read; httpx reads it as the connection takes it."""

    def __init__(self, stream: IO[bytes], on_progress: Callable[[int], None] | None) -> None:
        self._stream = stream
        self._on_progress = on_progress

    def read(self, size: int = -1) -> bytes:
        data = self._stream.read(size)
        if self._on_progress and data:
            self._on_progress(self._stream.tell())
        return data

    def seek(self, offset: int, whence: int = 0) -> int:
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()


def _path_of(task_id: UUID | str) -> str:
    """The path of a task; whatever a text holds, it names no other operation."""
    name = quote(str(task_id), safe="")
    if name in ("", ".", ".."):
        raise ValueError("task_id: give the id of a task")
    return f"/v1/vision/tasks/{name}"


def _name_of(file: File) -> str:
    return Path(file if isinstance(file, (str, Path)) else str(getattr(file, "name", "file"))).name


def _open(file: File, opened: ExitStack) -> IO[bytes]:
    return opened.enter_context(open(file, "rb")) if isinstance(file, (str, Path)) else file


def _type_of(stream: IO[bytes]) -> str:
    """The media type by the first bytes: the service compares what is declared with what it finds."""
    stream.seek(0)
    start = stream.read(12)
    if start.startswith(b"\xff\xd8"):
        return "image/jpeg"
    if start.startswith(b"\x89PNG"):
        return "image/png"
    if start.startswith(b"RIFF") and start.endswith(b"WEBP"):
        return "image/webp"
    return "video/mp4" if start[4:8] == b"ftyp" else "application/octet-stream"


def _given(**values: str | int | None) -> dict[str, str]:
    return {name: str(value) for name, value in values.items() if value is not None}
