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


@pytest.mark.parametrize("signature", ["v1", "v1,a,b", "v1,====", "v1,a", "v1,\u00fc", ",", " "])
def test_a_signature_of_any_form_is_refused_and_not_another_error(signature: str) -> None:
    secret = new_secret()
    with pytest.raises(WebhookVerificationError):
        verify_webhook(BODY, {**signed(secret), "webhook-signature": signature}, secret)


@pytest.mark.parametrize("timestamp", ["soon", "nan", "inf", "1e999", "-1", "9" * 400])
def test_a_time_of_any_form_is_refused(timestamp: str) -> None:
    secret = new_secret()
    with pytest.raises(WebhookVerificationError):
        verify_webhook(BODY, {**signed(secret), "webhook-timestamp": timestamp}, secret)


def test_a_body_of_any_bytes_is_refused() -> None:
    secret = new_secret()
    for body in (b"\xff\xfe", b"", b"\x00"):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(body, signed(secret), secret)
    for body in (b"not JSON", b"\xff"):
        with pytest.raises(WebhookVerificationError):
            verify_webhook(body, signed(secret, body), secret)


def test_a_secret_that_is_none_is_no_refusal_of_the_webhook() -> None:
    with pytest.raises(ValueError, match="padding|base64"):
        verify_webhook(BODY, signed(new_secret()), "whsec_a")
