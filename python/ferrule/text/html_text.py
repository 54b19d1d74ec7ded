"""Text as HTML may hold it."""

from __future__ import annotations

import html
import re

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def safe(text: object) -> str:
    """Escaped; control characters and what turns the direction of a text are shown by their numbers."""
    return html.escape(CONTROL.sub(lambda found: ascii(found[0])[1:-1], str(text).replace("\r\n", "\n")))
