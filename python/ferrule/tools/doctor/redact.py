"""Removal of the names of user and host from text that is pasted into a bug report."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import re
import socket
from typing import Any

NOBODY = {"root", "localhost", ""}  # names that identify nobody


class Redaction:
    """Replaces home folders by ~, names of the user by <user> and names of the host by <host>."""

    def __init__(self) -> None:
        # A home folder matches as a whole path prefix. A name matches as a whole word: not "ann" in "channel".
        self._rules = [(rf"(?<![\w.-]){re.escape(home)}(?![\w-])", "~") for home in _longest_first(_homes())]
        for word, names in (("<user>", _users()), ("<host>", _hosts())):
            for name in _longest_first(names - NOBODY):
                self._rules.append((rf"(?i)(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", word))

    def text(self, text: str) -> str:
        for pattern, word in self._rules:
            text = re.sub(pattern, word, text)
        return text

    def data(self, value: Any) -> Any:
        """Redact all strings in nested lists and dictionaries, except for keys."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {key: self.data(element) for key, element in value.items()}
        if isinstance(value, (list, tuple)):
            return [self.data(element) for element in value]
        return value


def _longest_first(words: set[str]) -> list[str]:
    return sorted(words, key=lambda word: (-len(word), word))


def _homes() -> set[str]:
    homes = {os.path.expanduser("~"), os.environ.get("HOME", ""), os.environ.get("USERPROFILE", ""), _entry("pw_dir")}
    homes |= {os.path.realpath(home) for home in homes if home}
    return {home.rstrip("/\\") for home in homes if len(home.rstrip("/\\")) > 1 and os.path.isabs(home)}


def _users() -> set[str]:
    variables = ("USER", "LOGNAME", "USERNAME", "SUDO_USER", "LNAME")
    names = {os.environ.get(variable, "") for variable in variables} | {_entry("pw_name")}
    with contextlib.suppress(OSError, KeyError, ImportError):  # no user has that id
        names.add(getpass.getuser())
    return names


def _entry(field: str) -> str:
    """Return a field of the current user's entry in the system's user database."""
    try:
        import pwd

        return str(getattr(pwd.getpwuid(os.getuid()), field))
    except (ImportError, KeyError):
        return ""


def _hosts() -> set[str]:
    names = {socket.gethostname(), platform.node(), os.environ.get("HOSTNAME", ""), os.environ.get("COMPUTERNAME", "")}
    return names | {name.partition(".")[0] for name in names}
