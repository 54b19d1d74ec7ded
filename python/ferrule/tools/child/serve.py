"""The child's side: answers requests, one line of JSON each, until its input ends.

Modules are used in this process only, so a crash ends no other process. Before each step a line {"at": ...} is sent,
so that the parent knows the last step.
"""

from __future__ import annotations

import faulthandler
import json
import os
import sys
from collections.abc import Callable
from typing import Any

Reply = dict[str, Any]
Send = Callable[[Reply], None]
Answer = Callable[[dict[str, Any]], Reply]


def serve(make_answer: Callable[[Send], Answer], with_traces: bool = True) -> None:
    """Answer requests until the input ends.

    `make_answer(send)` returns the function that answers a request; `send({"at": ...})` announces the next step. With
    `with_traces`, a crash prints the Python stack, which helps only authors of modules.
    """
    # Everything that modules and libraries print goes to standard error: the answers have their own file descriptor.
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    if with_traces:
        faulthandler.enable()

    def send(reply: Reply) -> None:
        answers.write(json.dumps(reply) + "\n")
        answers.flush()

    answer = make_answer(send)
    for line in sys.stdin:
        try:
            send({"reply": answer(json.loads(line))})
        except Exception as error:
            send({"error": f"{type(error).__name__}: {error}"})
