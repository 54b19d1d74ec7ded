"""What a test runs a program with: its text and variables, for what it prints."""

from __future__ import annotations

from collections.abc import Callable

Run = Callable[..., str]
