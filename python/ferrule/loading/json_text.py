"""JSON of plain options. The import of the package json would take a third of the time of a load."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

Plain = str | bool | Sequence[str] | None


def json_text(options: Mapping[str, Plain]) -> str:
    return "{" + ", ".join(f"{_text(key)}: {_text(value)}" for key, value in options.items()) + "}"


def _text(value: Plain) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f'"{value}"' if _is_plain(value) else _escape(value)
    return "[" + ", ".join(map(_text, value)) + "]"


def _is_plain(text: str) -> bool:
    return text.isascii() and text.isprintable() and '"' not in text and "\\" not in text


def _escape(text: str) -> str:
    import json

    return json.dumps(text)
