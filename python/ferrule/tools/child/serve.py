"""The child's side: answers requests, one line of JSON each, until its input ends.

Whatever a module does, it does here: a crash ends this process and no other. Before each step a line {"at": ...} goes
out, so that the parent knows what the last one was.
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
    """`make_answer(send)` gives the function that answers a request; `send({"at": ...})` tells what comes next.
    `with_traces`: a crash prints where Python was, which helps the author of a module, and nobody else."""
    # Whatever else is printed, by a module or a library, goes to standard error: the answers have their own way.
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
