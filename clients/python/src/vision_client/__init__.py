"""Client of the Vision Recognition Service."""

from .client import VisionClient
from .errors import VisionError
from .iterators import VisionIterator
from .to_supervision import to_supervision
from .webhooks import WebhookVerificationError, verify_webhook

__all__ = [
    "VisionClient",
    "VisionError",
    "VisionIterator",
    "WebhookVerificationError",
    "to_supervision",
    "verify_webhook",
]
