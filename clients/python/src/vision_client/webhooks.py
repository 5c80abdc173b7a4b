"""Signatures of webhooks (Standard Webhooks 1.0)."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from standardwebhooks import Webhook, WebhookVerificationError

__all__ = ["WebhookVerificationError", "verify_webhook"]


def verify_webhook(body: bytes | str, headers: Mapping[str, str], secrets: str | Sequence[str]) -> Any:
    """Checks the signature and the time of a webhook and returns its parsed body.

    `body` is the body as it was received. Give both secrets while one replaces the other. Raises
    WebhookVerificationError when no secret fits, a header is missing or malformed, the body is not JSON, or the time is
    more than 5 minutes away.
    """
    refusal = WebhookVerificationError("No secret was given")
    for secret in [secrets] if isinstance(secrets, str) else secrets:
        # Outside of the try: a secret that is none is a fault of the receiver, not of who sends.
        webhook = Webhook(secret)
        try:
            webhook.verify(body, dict(headers), json_parse=False)
            return json.loads(body)
        except WebhookVerificationError as error:
            refusal = error
        except ValueError as error:
            # The library lets errors of base64, UTF-8 and JSON through, which anybody who knows the address can cause.
            refusal = WebhookVerificationError("Malformed headers or body")
            refusal.__cause__ = error
    raise refusal
