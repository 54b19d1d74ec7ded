"""Two copies of libferrule in one process, each with its own backends, threads and errors."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

from hostile_modules.catalogue import hostile_module_named
from hostile_modules.hostile_module import Place

BOTH = """
import ctypes, json, sys
import numpy as np
import ferrule as fe

second = ctypes.CDLL(sys.argv[1])
for function in (second.fe_load_all, second.fe_load_report_format, second.fe_shutdown, second.fe_error_message,
                 second.fe_string_data):
    function.restype = ctypes.c_void_p

def check(error):
    if error:
        raise SystemExit(ctypes.string_at(second.fe_error_message(ctypes.c_void_p(error))).decode())

def load(folders):
    report, string = ctypes.c_void_p(), ctypes.c_void_p()
    check(second.fe_load_all(json.dumps({"dirs": folders}).encode(), ctypes.byref(report)))
    check(second.fe_load_report_format(report, b"json", ctypes.byref(string)))
    text = ctypes.string_at(second.fe_string_data(string)).decode()
    second.fe_string_release(string)
    second.fe_load_report_release(report)
    return {row["name"]: row["state"] for row in json.loads(text)["candidates"] if row["state"] == "loaded"}

def is_right():
    x = np.arange(1 << 18, dtype=np.float32).reshape(512, 512)
    y = fe.asarray(x, device="cpu")
    return bool((np.asarray(y + y) == x + x).all())

backends, modules = sys.argv[2:]
assert fe.load_all().loaded and is_right()
assert load([backends, modules]) == {"cpu": "loaded", "innocent": "loaded"}
assert [backend.name for backend in fe.backends()] == ["cpu"], "what one loads the other does not see"
assert is_right()
check(second.fe_shutdown())
assert is_right(), "and what one closes the other keeps"
assert {row.name for row in fe.load_all(dirs=[modules]).loaded} == {"innocent", "cpu"}
x = fe.asarray(np.array([1, 2, 3], np.float32), device="innocent")
assert np.asarray(x + x).tolist() == [2, 4, 6]
print("right")
"""


def test_two_copies_of_the_core_do_not_disturb_each_other(tmp_path: Path, package: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(package, copy, ignore=shutil.ignore_patterns("include", "templates", "testing", "*.py", "*.pyi"))
    modules = tmp_path / "modules"
    modules.mkdir()
    hostile = hostile_module_named("innocent")
    hostile.put(Place(hostile, modules))
    done = subprocess.run(
        [sys.executable, "-c", BOTH, str(copy / "libferrule.so"), str(copy / "backends"), str(modules)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.stdout, done.returncode) == ("right\n", 0), done.stderr
