"""What a schema cannot tell: real pictures, real videos, and a stream that answers, in some of the requests."""

import itertools
import os
from pathlib import Path
from urllib.parse import quote

import schemathesis
from hypothesis import strategies as st
from urllib3.util import connection

CORPUS = Path(__file__).parent.parent / "corpus"
STREAM_URL = os.environ["FUZZ_STREAM_URL"]
# Nobody may be led there; fuzz-api.ts counts the connections.
INNER = os.environ["FUZZ_INNER"]
INNER_URLS = [
    "http://{inner}/{text}",
    "rtsp://{text}@{inner}/",
    "rtmp://{inner}/{text}/x",
    "http://[::ffff:{inner_host}]:{inner_port}/{text}",
    # Its server sends whoever asks so to the inner address.
    STREAM_URL + "?away={text}",
]


def real(target, *names):
    files = [(CORPUS / target / name).read_bytes() for name in names]
    return st.one_of(st.sampled_from(files), st.binary(max_size=200))


schemathesis.openapi.media_type("video/mp4", real("mp4", "plain", "fragmented"))
schemathesis.openapi.media_type("video/quicktime", real("mp4", "fast"))
schemathesis.openapi.media_type("image/jpeg", real("pictures", "jpeg", "progressive"))
schemathesis.openapi.media_type("image/png", real("pictures", "png"))
schemathesis.openapi.media_type("image/webp", real("pictures", "webp"))


@schemathesis.hook
def map_body(context, body):
    """A stream that nobody answers for costs seconds, so most addresses are of one that answers at once, or forbidden."""
    if not isinstance(body, dict) or not isinstance(body.get("stream_url"), str):
        return body
    text = body["stream_url"]
    kind = len(text) % 4
    if kind < 2:
        body["stream_url"] = STREAM_URL
    elif kind == 2:
        body["stream_url"] = inner_url(text)
    return body


def inner_url(text):
    host, port = INNER.split(":")
    form = INNER_URLS[len(text) // 4 % len(INNER_URLS)]
    return form.format(inner=INNER, inner_host=host, inner_port=port, text=quote(text, safe="", errors="replace"))


# Some requests guess a key, and guesses are throttled by address. So every request comes from an address of its own:
# this machine has 16 million of them, and each connection serves one request (schemathesis.toml).
connect = connection.create_connection
numbers = itertools.count()


def connect_from_own_address(address, timeout=None, source_address=None, socket_options=None):
    number = next(numbers)
    own = f"127.66.{number >> 8 & 255}.{number & 255}"
    return connect(address, timeout, (own, 0), socket_options)


connection.create_connection = connect_from_own_address
