"""Asynchronous devices for tests in child processes: the null module's two devices, which run their work late or on
threads, hide their memory, and compute with the kernels of the CPU module."""

from __future__ import annotations

import contextlib
import functools
import gc
import inspect
import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any
from unittest import mock

import ferrule as fe

ROOT = Path(__file__).resolve().parents[2]
PACES = ["late", "threaded"]  # work is done when a caller waits for it, or by the queue's thread
REQUESTED_FAILURE = "failed, as requested"  # message of failures requested by an option of the devices


def in_own_process(test: Callable[..., None]) -> Callable[..., None]:
    """Runs the body of the test in its own process. Its parameters are those of `parametrize`."""
    return _in_a_process(test, test, list(inspect.signature(test).parameters.values()))


def at_each_pace(test: Callable[..., None]) -> Callable[..., None]:
    """Like `in_process`, once with each of PACES as `pace`."""

    def body(**parameters: object) -> None:
        for pace in PACES:
            try:
                test(pace=pace, **parameters)
            except Exception as error:
                error.add_note(f"The pace was {pace!r}.")
                raise

    others = [one for one in inspect.signature(test).parameters.values() if one.name != "pace"]
    return _in_a_process(test, body, others)


def _in_a_process(
    test: Callable[..., None], body: Callable[..., None], parameters: list[inspect.Parameter]
) -> Callable[..., None]:
    def run(run_python: Callable[..., subprocess.CompletedProcess[str]], **given: object) -> None:
        module = ".".join(Path(inspect.getfile(test)).resolve().relative_to(ROOT).with_suffix("").parts)
        run_python(
            f"import sys; sys.path.insert(0, {str(ROOT)!r})\n"
            f"from {module} import {test.__name__} as test\n"
            f"test.body(**{given!r})\n"
        )

    functools.update_wrapper(run, test)
    del run.__dict__["__wrapped__"]
    own = [inspect.Parameter("run_python", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    run.__dict__["__signature__"] = inspect.Signature([*own, *parameters])
    run.__dict__["body"] = body
    return run


def open_devices(
    pace: str = "late", other: Mapping[str, str | int | bool] | None = None, **options: str | int | bool
) -> tuple[fe.Device, fe.Device]:
    """Reopens both devices, so that earlier state is gone. The second one also has the options `other`."""
    gc.collect()
    if any(backend.name == "null" for backend in fe.backends()):
        fe.unload("null")
    with mock.patch.dict(os.environ, FERRULE_NULL_FAULT="two_devices"):
        fe.load(next((Path(fe.__file__).parent / "testing").glob("libferrule-null.[!j]*")))
    kernels = str(fe.device("cpu").backend.path)
    both = fe.device("null:0"), fe.device("null:1")
    for device, more in zip(both, ({}, other or {}), strict=True):
        device.open(**{"hidden": True, "computes_with": kernels, pace: True, **options, **more})
    return both


@contextlib.contextmanager
def held_device(**options: str | int | bool) -> Iterator[tuple[fe.Device, Callable[[], None]]]:
    """A threaded device, and a function: no execution ends before it is called, or the context is left."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "held"
        path.touch()
        try:
            yield open_devices("threaded", held_while=str(path), **options)[0], path.unlink
        finally:
            path.unlink(missing_ok=True)


def error_of(call: Callable[[], Any]) -> fe.Error | None:
    """The error that the call raises, without the arrays in its frames."""
    try:
        call()
    except fe.Error as error:
        return error.with_traceback(None)
    return None
