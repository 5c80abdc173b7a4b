"""Events of the log."""

from __future__ import annotations

from typing import Any

from pydantic import TypeAdapter, ValidationError

from .models import AlarmEvent, MissedEvents, TaskEvent

Event = TaskEvent | AlarmEvent | MissedEvents
"""An event of a type that this client knows; `type` says which."""

_KNOWN: TypeAdapter[Event] = TypeAdapter(Event)


def parse_event(event: str | dict[str, Any]) -> Event | None:
    """The event; None when it is of a type that this client does not know."""
    try:
        return _KNOWN.validate_json(event) if isinstance(event, str) else _KNOWN.validate_python(event)
    except ValidationError:
        return None
