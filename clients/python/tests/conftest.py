"""The running system, as `make python-client` describes it in the environment, and services that tests script."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
import pytest
from vision_client import VisionClient

ROOT = Path(__file__).parents[3]


@pytest.fixture(scope="session")
def api_key() -> str:
    headers = {"authorization": f"Bearer {os.environ['ADMIN_TOKEN']}"}
    reply = httpx.post(f"{os.environ['ADMIN_URL']}/admin/v1/keys", json={"name": "python"}, headers=headers)
    return reply.json()["key"]


@pytest.fixture(scope="session")
def vision(api_key: str) -> Iterator[VisionClient]:
    with VisionClient(os.environ["BASE_URL"], api_key) as client:
        yield client


@dataclass
class Received:
    method: str
    path: str
    headers: dict[str, str]
    body: bytes


@dataclass
class Scripted:
    url: str = ""
    received: list[Received] = field(default_factory=list)


Reply = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def script() -> Iterator[Callable[..., Scripted]]:
    """Starts a service on a port of its own that gives replies in turn, the last one again and again."""
    servers: list[ThreadingHTTPServer] = []

    def start(*replies: Reply) -> Scripted:
        scripted = Scripted()

        class Handler(BaseHTTPRequestHandler):
            def handle_one_request(self) -> None:
                self.raw_requestline = self.rfile.readline()
                if not self.raw_requestline or not self.parse_request():
                    self.close_connection = True
                    return
                length = int(self.headers.get("content-length", 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                scripted.received.append(Received(self.command, self.path, headers, self.rfile.read(length)))
                replies[min(len(scripted.received), len(replies)) - 1](self)
                self.close_connection = True

            def log_message(self, *_args: object) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        scripted.url = f"http://127.0.0.1:{server.server_address[1]}"
        return scripted

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()
