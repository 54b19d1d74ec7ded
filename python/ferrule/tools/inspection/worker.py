"""The process in which files are parsed: a damaged file may crash the library that reads it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ferrule.tools.child.serve import Reply, Send, serve
from ferrule.tools.inspection.read import read_module


def answer_to(send: Send) -> Any:
    def answer(request: dict[str, Any]) -> Reply:
        send({"at": f"reading {request['path']}"})
        return read_module(Path(request["path"]))

    return answer


if __name__ == "__main__":
    serve(answer_to, with_traces=False)
