"""A child process: any outcome is reported as a sentence, and its output is bounded."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from ferrule.tools.child import Child, ChildEnded, ChildError
from ferrule.tools.child.parent import OUTPUT_SHOWN

WORKER = """
import os, signal, sys, time
from ferrule.tools.child.serve import serve

def answer_to(send):
    def answer(request):
        send({"at": "doing " + request["do"]})
        if request["do"] == "crash": os.kill(os.getpid(), signal.SIGSEGV)
        if request["do"] == "hang": time.sleep(600)
        if request["do"] == "exit": os._exit(3)
        if request["do"] == "raise": raise ValueError("it does not like this")
        if request["do"] == "print":
            for _ in range(2000): os.write(1, b"x" * 10_000)
            os.write(2, b"the last line")
            os._exit(0)
        if request["do"] == "scribble":
            for number in range(3, 20):
                try: os.write(number, b"scribble\\n")
                except OSError: pass
        return {"did": request["do"], "variable": os.environ.get("A_VARIABLE", "")}
    return answer

serve(answer_to, with_traces=False)
"""


@pytest.fixture
def child(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Child]:
    (tmp_path / "a_worker.py").write_text(WORKER)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, (str(tmp_path), os.environ.get("PYTHONPATH")))))
    made = Child("a_worker", variables={"A_VARIABLE": "given"})
    yield made
    made.close()


def test_child_answers_and_has_the_environment_variables(child: Child) -> None:
    assert child.ask(do="this") == {"did": "this", "variable": "given"}


def test_exception_is_an_error_and_the_child_continues(child: Child) -> None:
    with pytest.raises(ChildError, match="ValueError: it does not like this"):
        child.ask(do="raise")
    assert child.ask(do="that")["did"] == "that"


@pytest.mark.parametrize(
    ("what", "state", "how"),
    [
        ("crash", "crashed", "killed by SIGSEGV"),
        ("exit", "crashed", "exited with 3"),
        ("hang", "hung", "no answer for 0.5 s: killed"),
        ("scribble", "crashed", "something in it wrote into its answers: killed"),
    ],
)
def test_end_of_a_child_is_reported_with_its_step_and_a_new_child_answers(
    child: Child, what: str, state: str, how: str
) -> None:
    child.ask(do="this")  # it has started
    if what == "hang":
        child.limit = 0.5
    with pytest.raises(ChildEnded) as ended:
        child.ask(do=what)
    child.limit = 60.0
    assert ended.value.state == state
    assert ended.value.how.startswith(how)
    assert ended.value.at == f"doing {what}"
    assert child.ask(do="this")["did"] == "this"


def test_only_the_end_of_a_childs_output_is_kept(child: Child) -> None:
    with pytest.raises(ChildEnded) as ended:
        child.ask(do="print")
    assert len(ended.value.output) <= OUTPUT_SHOWN
    assert ended.value.output.endswith("the last line")
