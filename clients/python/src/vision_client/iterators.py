"""Readers that continue behind the last item over broken connections and updates of the service."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator
from typing import Any, Generic, TypeVar

import httpx
from httpx_sse import EventSource

from .connection import Connection, Retries, is_worth_retrying
from .errors import error_of, problem_of

T = TypeVar("T")
Step = tuple[str | None, T | None]
"""The cursor behind a step of a reader and, where there is one, its item."""

SILENCE_S = 30.0
"""The service sends a comment every 10 s."""
RECONNECT_S = 1.0
RECONNECT_BOUNDS_S = (0.1, 60.0)
"""What a service may ask for instead: neither a storm of requests nor a reader that never comes back."""


class VisionIterator(Generic[T], Iterator[T]):
    """Items of a task, each once.

    `cursor` is the place behind the last item: pass it to a new iterator, even of another process. With a fallback to
    pages it moves by whole pages, so a new iterator repeats the items of an open page.
    """

    def __init__(self, steps: Generator[Step[T], None, None], cursor: str | None) -> None:
        self._steps = steps
        self.cursor = cursor

    def __next__(self) -> T:
        while True:
            self.cursor, item = next(self._steps)
            if item is not None:
                return item

    def close(self) -> None:
        """Ends the reader and its connection."""
        self._steps.close()

    def __enter__(self) -> VisionIterator[T]:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def follow_pages(
    load: Callable[[str | None], dict[str, Any]], parse: Callable[[Any], T | None], cursor: str | None, poll_s: float
) -> Generator[Step[T], None, None]:
    """The items of pages, those to come included, until none can follow."""
    while cursor != "":
        page = load(cursor)
        behind = page["next_cursor"] or page["resume_cursor"]
        items = page["items"]
        for index, item in enumerate(items):
            yield (behind if index == len(items) - 1 else cursor), parse(item)
        if not items:
            yield behind, None
        cursor = behind
        if page["next_cursor"] == "" and cursor != "":
            time.sleep(poll_s)


def stream_items(
    connection: Connection,
    path: str,
    query: dict[str, Any],
    parse: Callable[[str], T | None],
    cursor: str | None,
    item_type: str | None = None,
) -> Generator[Step[T], None, tuple[str | None] | None]:
    """The items of a stream of server-sent events, over as many connections as it takes.

    Items are events of `item_type`, all that have data without it. Returns where pages have to go on, None when all
    items were delivered: pages work where a proxy holds events back, where streams are used up, and with releases that
    have none.
    """
    retries = Retries(connection.max_retry_s)
    timeout = httpx.Timeout(SILENCE_S, connect=10)
    while True:
        wait: float | None = RECONNECT_S
        has_heard = False
        headers = {"accept": "text/event-stream", **({} if cursor is None else {"last-event-id": cursor})}
        try:
            with connection.http.stream("GET", path, params=query, headers=headers, timeout=timeout) as response:
                if response.status_code == 204:
                    return None
                if not response.headers.get("content-type", "").startswith("text/event-stream"):
                    response.read()
                    if response.is_success or _wants_pages(response):
                        return (cursor,)
                    wait = retries.wait_after(response) if is_worth_retrying(response) else None
                    if wait is None:
                        raise error_of(response)
                else:
                    for event in EventSource(response).iter_sse():
                        has_heard = True
                        retries.succeeded()
                        wait = RECONNECT_S if event.retry is None else _within_bounds(event.retry)
                        cursor = event.id or cursor
                        is_item = event.data != "" and item_type in (None, event.event)
                        yield cursor, (parse(event.data) if is_item else None)
                        if event.event == "end":
                            return None
        except httpx.TransportError as error:
            if isinstance(error, httpx.ReadTimeout) and not has_heard:
                return (cursor,)
            wait = retries.wait_after(None)
            if wait is None:
                raise
        time.sleep(wait)


def _within_bounds(asked_ms: int) -> float:
    least, most = RECONNECT_BOUNDS_S
    return max(least, min(asked_ms, 1000 * most) / 1000)


def _wants_pages(response: httpx.Response) -> bool:
    """No such operation in this release, or no stream left for this subject."""
    problem = problem_of(response)
    details = problem.details if problem else None
    return (
        response.status_code in (405, 406, 501)
        or (response.status_code == 404 and details is not None and details.reason == "not_found")
        or (response.status_code == 429 and getattr(details, "limit", None) == "event_streams")
    )
