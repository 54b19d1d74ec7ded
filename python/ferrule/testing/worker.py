"""The child process in which modules run: it answers the kit's requests."""

from __future__ import annotations

import json
import time
import traceback
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import ferrule as fe
from ferrule.testing.cases import all_cases
from ferrule.testing.checks import all_checks
from ferrule.testing.programs.worker_requests import ProgramRequests
from ferrule.testing.running.check_attempt import Attempt, Failed, NotApplicable
from ferrule.testing.running.execution import Refused
from ferrule.testing.running.target import Target, open_target, runnable_variants
from ferrule.tools.child.serve import Reply, serve

if TYPE_CHECKING:
    from ferrule.testing.programs.worker_requests import ProgramRequests
    from ferrule.testing.running.check_attempt import Attempt


class Worker:
    def __init__(self, send: Callable[[Reply], None]) -> None:
        self._send = send
        self._devices: dict[str, fe.Device] = {}
        self._program_requests: ProgramRequests | None = None

    def at(self, text: str) -> None:
        self._send({"at": text})

    def answer(self, request: dict[str, Any]) -> Reply:
        known: dict[str, Callable[..., Reply]] = {
            "variants": self._variants,
            "open": self._open,
            "support": self._support,
            "check": self._check,
        }
        what = request.pop("do")
        return known[what](**request) if what in known else self._of_programs(what, request)

    def _of_programs(self, what: str, request: dict[str, Any]) -> Reply:
        if self._program_requests is None:
            self._program_requests = ProgramRequests(self._devices, self.at)
        answer: Reply = getattr(self._program_requests, what)(**request)
        return answer

    def _variants(self) -> Reply:
        return {"variants": runnable_variants()}

    def _open(self, target: dict[str, Any]) -> Reply:
        self.at("loading the module")
        devices = open_target(Target(**target))
        self._devices = {device.name: device for device in devices}
        return {"devices": [_describe(device) for device in devices]}

    def _support(self, device: str, op: str) -> Reply:
        """Whether the device supports each case of the op."""
        answers = {}
        for case in all_cases().values():
            if case.op != op:
                continue
            attempt = Attempt(self._devices[device], case, "support", "quick", 0, self.at)
            answers[case.name] = self._answer(attempt)
        return {"cases": answers}

    @staticmethod
    def _answer(attempt: Attempt) -> Reply:
        """Whether the device supports any of the case's plain problems.

        If `supports` says no, an answer to the first and the last problem is enough: decompositions of ops without a
        kernel do not depend on the shape, and there are up to ten problems of a thousand cases.
        """
        case, refusals = attempt.case, []
        promised = False
        try:
            promised = bool(case.dtypes) and attempt.device.supports(case.op, *case.asked)
            problems = case.family.plain
            for problem in problems if promised else (*problems[:1], *problems[-1:]):
                try:
                    kernels = attempt.prepare(problem, attempt.inputs(problem), case.name).kernels
                    return {"supported": True, "promised": promised, "kernels": kernels, "reason": ""}
                except Refused as refusal:
                    refusals.append(str(refusal))
        except Exception as error:  # the checks will report the error
            return {"supported": True, "promised": promised, "kernels": [], "reason": str(error)}
        return {"supported": False, "promised": promised, "kernels": [], "reason": refusals[0]}

    def _check(self, device: str, case: str, check: str, level: str, seed: int) -> Reply:
        attempt = Attempt(self._devices[device], all_cases()[case], check, level, seed, self.at)
        state, message = "passed", ""
        start = time.perf_counter()
        try:
            all_checks()[check](attempt)
            if attempt.refusals and not attempt.runs:
                state, message = "refused", attempt.refusals[0]
        except Failed as failure:
            state, message = "failed", str(failure)
        except NotApplicable as answer:
            state, message = "not applicable", str(answer)
        except Refused as refusal:
            state, message = "refused", str(refusal)
        except Exception as error:
            state = "failed"
            message = f"{type(error).__name__}: {error}\n{traceback.format_exc(limit=-3)}"
        return {**_summary(attempt), "state": state, "message": message, "seconds": time.perf_counter() - start}


def _summary(attempt: Attempt) -> Reply:
    worst = attempt.worst
    verdict = worst.verdict if worst else None
    return {
        "runs": attempt.runs,
        "ulp": verdict.ulp if verdict else None,
        "allowed": verdict.allowed if verdict else None,
        "exact": bool(verdict is None or verdict.exact),
        "where": f"element {verdict.index} of {worst.problem} {worst.layout}".rstrip() if worst and verdict else "",
        "kernels": attempt.kernels,
        "refusals": attempt.refusals,
        **attempt.measured,
    }


def _describe(device: fe.Device) -> Reply:
    backend = device.backend
    manifest = backend.path.with_suffix(".json")
    try:
        ops = json.loads(manifest.read_text(encoding="utf-8")).get("ops") or []
    except (OSError, ValueError):
        ops = []
    return {
        "name": device.name,
        "kind": device.kind,
        "description": device.info.get("description", ""),
        "backend": backend.name,
        "variant": backend.variant,
        "module": str(backend.path),
        "declared": ops,
    }


if __name__ == "__main__":
    serve(lambda send: Worker(send).answer)
