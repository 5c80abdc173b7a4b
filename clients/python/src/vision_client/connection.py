"""How requests are sent, and when they are sent again."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from email.utils import parsedate_to_datetime
from typing import Any

import httpx

from .errors import error_of, problem_of

RETRIED = (429, 502, 503, 504)
FIRST_WAIT_S = 0.25
LONGEST_WAIT_S = 10.0
ANSWER_LIMIT_S = 120.0


class Retries:
    """How long failures may go on; an answer ends the series."""

    def __init__(self, max_s: float) -> None:
        self._max_s = max_s
        self.succeeded()

    def succeeded(self) -> None:
        self._failures = 0
        self._deadline: float | None = None

    def wait_after(self, response: httpx.Response | None) -> float | None:
        """Seconds until the next attempt; None when there should be none. Random, so that clients spread out."""
        now = time.monotonic()
        if self._deadline is None:
            self._deadline = now + self._max_s
        backoff = min(FIRST_WAIT_S * 2**self._failures, LONGEST_WAIT_S)
        self._failures += 1
        asked = None if response is None else _retry_after(response)
        wait = backoff * random.uniform(0.5, 1) if asked is None else asked + random.uniform(0, backoff)
        return None if now + wait > self._deadline else wait


def is_worth_retrying(response: httpx.Response) -> bool:
    """True if the unchanged request may succeed later."""
    if response.status_code not in RETRIED:
        return False
    problem = problem_of(response)
    return problem is None or problem.retryable


class Connection:
    """An HTTP client of one key."""

    def __init__(self, base_url: str, api_key: str, max_retry_s: float, transport: httpx.BaseTransport | None) -> None:
        self.max_retry_s = max_retry_s
        self.http = httpx.Client(
            base_url=base_url.rstrip("/"),
            headers={"authorization": f"Bearer {api_key}"},
            timeout=httpx.Timeout(ANSWER_LIMIT_S, connect=10),
            transport=transport,
        )

    def send(self, build: Callable[[], httpx.Request]) -> httpx.Response:
        """Sends until there is an answer other than "later"; each attempt builds its request anew.

        Raises VisionError for a refusal, and the error of httpx when the service stays out of reach.
        """
        retries = Retries(self.max_retry_s)
        while True:
            response: httpx.Response | None = None
            try:
                response = self.http.send(build())
                if response.is_success:
                    return response
                if not is_worth_retrying(response):
                    raise error_of(response)
                wait = retries.wait_after(response)
                if wait is None:
                    raise error_of(response)
            except httpx.TransportError:
                wait = retries.wait_after(None)
                if wait is None:
                    raise
            time.sleep(wait)

    def request(self, method: str, path: str, **options: Any) -> Any:
        """The parsed JSON body of an answer."""
        return self.send(lambda: self.http.build_request(method, path, **options)).json()


def _retry_after(response: httpx.Response) -> float | None:
    value = response.headers.get("retry-after")
    if value is None:
        return None
    try:
        return float(value) if value.isdecimal() else max(0.0, parsedate_to_datetime(value).timestamp() - time.time())
    except (ValueError, TypeError, OverflowError):
        return None
