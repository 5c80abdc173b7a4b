"""Refusals of the service."""

from __future__ import annotations

import httpx
from pydantic import ValidationError

from .models import Problem


class VisionError(Exception):
    """A refusal, with its problem document: `problem.details.reason` is the exact reason."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(f"{problem.status} {problem.details.reason}: {problem.detail}")
        self.problem = problem


def problem_of(response: httpx.Response) -> Problem | None:
    """The problem document of an answer whose body has been read; None when it has none."""
    try:
        return Problem.model_validate_json(response.content)
    except ValidationError:
        return None


def error_of(response: httpx.Response) -> VisionError:
    """The error of an answer that is no success; its body has been read."""
    return VisionError(problem_of(response) or _foreign_problem(response))


def _foreign_problem(response: httpx.Response) -> Problem:
    """An answer of something before the service, such as a proxy."""
    return Problem.model_validate(
        {
            "type": "about:blank",
            "title": response.reason_phrase,
            "status": response.status_code,
            "detail": "The answer has no problem document; it does not come from the service.",
            "instance": f"urn:request:{response.headers.get('x-request-id', '')}",
            "details": {"reason": "not_from_service"},
            "trace_id": response.headers.get("x-trace-id", ""),
            "retryable": response.status_code in (429, 502, 503, 504),
        }
    )
