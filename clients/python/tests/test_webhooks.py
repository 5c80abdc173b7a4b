from __future__ import annotations

import base64
import hashlib
import hmac
import os
import time

import pytest
from vision_client import WebhookVerificationError, verify_webhook

BODY = b'{"event_id":"1"}'


def new_secret() -> str:
    return "whsec_" + base64.b64encode(os.urandom(32)).decode()


def signed(secret: str, body: bytes = BODY, at: float | None = None) -> dict[str, str]:
    """As Standard Webhooks 1.0 describes it, without the library that checks it."""
    timestamp = str(int(at or time.time()))
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signature = hmac.new(key, b"msg_1." + timestamp.encode() + b"." + body, hashlib.sha256).digest()
    encoded = base64.b64encode(signature).decode()
    return {"Webhook-Id": "msg_1", "webhook-timestamp": timestamp, "webhook-signature": f"v1,{encoded}"}


def test_a_signed_body_is_returned_by_either_of_two_secrets() -> None:
    old, new = new_secret(), new_secret()
    assert verify_webhook(BODY, signed(old), old) == {"event_id": "1"}
    assert verify_webhook(BODY.decode(), signed(old), [new, old]) == {"event_id": "1"}


def test_others_are_refused() -> None:
    secret = new_secret()
    cases = [
        (BODY, signed(new_secret())),
        (BODY + b" ", signed(secret)),
        (BODY, signed(secret, at=time.time() - 600)),
        (BODY, {}),
    ]
    for body, headers in cases:
        with pytest.raises(WebhookVerificationError):
            verify_webhook(body, headers, secret)
    with pytest.raises(WebhookVerificationError):
        verify_webhook(BODY, signed(secret), [])
