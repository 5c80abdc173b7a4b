"""What a schema cannot tell: real pictures, real videos, and a stream that answers, in some of the requests."""

import itertools
import os
from pathlib import Path

import schemathesis
from hypothesis import strategies as st
from urllib3.util import connection

CORPUS = Path(__file__).parent.parent / "corpus"
STREAM_URL = os.environ["FUZZ_STREAM_URL"]


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
    """A stream that nobody answers for costs seconds, so most addresses are of one that answers at once."""
    is_stream = isinstance(body, dict) and isinstance(body.get("stream_url"), str)
    if is_stream and len(body["stream_url"]) % 4 != 3:
        body["stream_url"] = STREAM_URL
    return body


# Some requests guess a key, and guesses are throttled by address. So every request comes from an address of its own:
# this machine has 16 million of them, and each connection serves one request (schemathesis.toml).
connect = connection.create_connection
numbers = itertools.count()


def connect_from_own_address(address, timeout=None, source_address=None, socket_options=None):
    number = next(numbers)
    own = f"127.66.{number >> 8 & 255}.{number & 255}"
    return connect(address, timeout, (own, 0), socket_options)


connection.create_connection = connect_from_own_address
