from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest
from conftest import Scripted
from vision_client import VisionClient, WebhookVerificationError, verify_webhook

ENDPOINT = "/v1/vision/webhook-endpoints/python"


def test_a_webhook_of_the_system_verifies_and_what_was_changed_in_it_does_not(
    vision: VisionClient, script: Callable[..., Scripted]
) -> None:
    arrived = threading.Event()

    def accept(request: BaseHTTPRequestHandler) -> None:
        request.send_response(204)
        request.end_headers()
        arrived.set()

    receiver = script(accept)
    # Events of other tests are not sent to it.
    settings = {"url": f"{receiver.url}/hook", "event_types": ["alarm.opened"]}
    secret = vision.request("PUT", ENDPOINT, json=settings)["secret"]
    vision.request("POST", f"{ENDPOINT}/test")
    assert arrived.wait(30)
    webhook = receiver.received[0]

    event = verify_webhook(webhook.body, webhook.headers, secret)
    assert event["type"] == "webhook_endpoint.test"
    assert event["event_id"] == webhook.headers["webhook-id"]

    another = vision.request("PUT", f"{ENDPOINT}-2", json=settings)["secret"]
    for body, headers, secrets in [
        (webhook.body.replace(b"webhook_endpoint.test", b"webhook_endpoint.tess"), webhook.headers, secret),
        (webhook.body, {**webhook.headers, "webhook-id": "msg_1"}, secret),
        (webhook.body, webhook.headers, another),
    ]:
        with pytest.raises(WebhookVerificationError):
            verify_webhook(body, headers, secrets)
