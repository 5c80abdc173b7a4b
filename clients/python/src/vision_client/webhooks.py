"""Signatures of webhooks (Standard Webhooks 1.0)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

__all__ = ["WebhookVerificationError", "verify_webhook"]


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secrets: str | Sequence[str]) -> Any:
    """Checks the signature and the time of a webhook and returns its parsed body.

    `body` is the body as it was received. Give both secrets while one replaces the other. Raises
    WebhookVerificationError when no secret fits, a header is missing, or the time is more than 5 minutes away.
    """
    refusal = WebhookVerificationError("No secret was given")
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        try:
            return Webhook(secret).verify(body, {name.lower(): value for name, value in headers.items()})
        except WebhookVerificationError as error:
            refusal = error
    raise refusal
