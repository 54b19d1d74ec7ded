"""What is pasted into a bug report tells neither who one is nor whose machine it was."""

from __future__ import annotations

import contextlib
import getpass
import os
import platform
import re
import socket
from typing import Any

NOBODY = {"root", "localhost", ""}  # these tell nothing of anyone


class Redaction:
    """Home folders become ~, the user's names <user> and the host's <host>, wherever they stand."""

    def __init__(self) -> None:
        # A place of its own wherever it stands; a name is a word: "ann" is not a part of "channel".
        self._rules = [(rf"(?<![\w.-]){re.escape(home)}(?![\w-])", "~") for home in _longest_first(_homes())]
        for word, names in (("<user>", _users()), ("<host>", _hosts())):
            for name in _longest_first(names - NOBODY):
                self._rules.append((rf"(?i)(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", word))

    def text(self, text: str) -> str:
        for pattern, word in self._rules:
            text = re.sub(pattern, word, text)
        return text

    def data(self, value: Any) -> Any:
        """The same of all strings in lists and dictionaries; keys are ours."""
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
    with contextlib.suppress(OSError, KeyError, ImportError):  # nobody by that number
        names.add(getpass.getuser())
    return names


def _entry(field: str) -> str:
    """Of the system's list of users."""
    try:
        import pwd

        return str(getattr(pwd.getpwuid(os.getuid()), field))
    except (ImportError, KeyError):
        return ""


def _hosts() -> set[str]:
    names = {socket.gethostname(), platform.node(), os.environ.get("HOSTNAME", ""), os.environ.get("COMPUTERNAME", "")}
    return names | {name.partition(".")[0] for name in names}
