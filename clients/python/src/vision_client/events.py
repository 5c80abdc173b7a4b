"""Events of the log."""

from __future__ import annotations

import json
from typing import Any, get_args

from .models import AlarmEvent, MissedEvents, TaskEvent, WebhookEndpointEvent

Event = TaskEvent | AlarmEvent | WebhookEndpointEvent | MissedEvents
"""An event of a type that this client knows; `type` says which."""


def _types_of(model: type[Event]) -> tuple[str, ...]:
    """The types in the annotation of a model, which is `Literal[...] | str`."""
    known, _later = get_args(model.model_fields["type"].annotation)
    return get_args(known)


_MODEL_OF: dict[str, type[Event]] = {name: model for model in get_args(Event) for name in _types_of(model)}


def parse_event(event: str | dict[str, Any]) -> Event | None:
    """The event; None when it is of a type that this client does not know."""
    try:
        data = json.loads(event) if isinstance(event, str) else event
        return _MODEL_OF[data["type"]].model_validate(data)
    except (KeyError, TypeError, ValueError):
        return None
