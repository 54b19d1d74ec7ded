"""Lifetimes as a program sees them: unloading, exits, forks, lost devices."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Put = Callable[..., Path]
Notes = Callable[[], list[str]]

WATCHING = Path(__file__).resolve().parents[2] / "cpp" / "modules" / "watching.c"


@pytest.fixture
def watching(package: Path, tmp_path: Path) -> Path:
    """A module with its own memory, queue and thread, which records calls in a child process and after exit began."""
    module = tmp_path / "libferrule-t_watching.so"
    defined = ['-DTEST_NAME="t_watching"', '-DTEST_VARIANT=""']
    command = ["cc", "-std=c11", "-shared", "-fPIC", "-pthread", f"-I{package / 'include'}", *defined]
    subprocess.run([*command, str(WATCHING), "-o", str(module)], check=True)
    return module


# Code that opens a device and creates every kind of object on it.
ALIVE = """
import ctypes, ferrule as fe, numpy as np, os, sys, threading
path = {path!r}
fe.load_all(); fe.load(path)
device = fe.device('t_watching')
array = fe.asarray(np.ones(3, 'f4'), device=device)
double = fe.graph(lambda a: a + a)
result = double(array); fe.eval(result)
lazy = fe.exp(array); computed = fe.exp(lazy); fe.eval(computed)
on_cpu = fe.asarray(np.ones(3, 'f4'), device='cpu'); borrowed = np.asarray(on_cpu)
"""


def alive(path: Path, code: str) -> str:
    return ALIVE.format(path=str(path)) + code


def test_no_driver_function_is_called_at_python_exit(run_python: Run, notes: Notes, watching: Path) -> None:
    done = run_python(
        alive(
            watching,
            "import atexit, time\n"
            "cycle = [array, double, device]; cycle.append(cycle)\n"
            "class Global:\n"
            "    def __del__(self): pass\n"
            "    kept = (array, result, double, device)\n"
            "kept_global = Global()\n"
            "def compute():\n"
            "    while True: (on_cpu + 1).sum().item()\n"
            "threading.Thread(target=compute, daemon=True).start(); time.sleep(0.05)\n"
            "atexit.register(ctypes.CDLL(path).test_exit_began)\n",
        )
    )
    assert done.stderr == ""
    assert notes() == []


def test_watching_module_detects_calls_after_exit_began(run_python: Run, notes: Notes, watching: Path) -> None:
    run_python(alive(watching, "ctypes.CDLL(path).test_exit_began(); device.memory"))
    assert notes() == ["at exit: device_memory"]


def test_unload_names_what_a_traced_function_keeps_compiled(run_python: Run, watching: Path) -> None:
    run_python(
        alive(
            watching,
            "def refusal():\n"
            "    try: fe.unload('t_watching')\n"
            "    except fe.InvalidArgumentError as error: return str(error)\n"
            "del result, lazy, computed, array\n"
            "assert 'compiled graph' in refusal(), refusal()\n"
            "del double\n"
            "fe.unload('t_watching'); assert path not in open('/proc/self/maps').read()",
        )
    )


def test_unload_while_another_thread_computes_names_its_graph(run_python: Run, watching: Path, tmp_path: Path) -> None:
    code = alive(
        watching,
        f"gate = os.environ['FERRULE_TEST_EXECUTE_GATE'] = {str(tmp_path / 'gate')!r}\n"
        "del result, lazy, computed\n"
        "threading.Thread(target=lambda: fe.eval(fe.exp(array))).start()\n"
        "while not os.path.exists(gate): pass\n"
        "try: fe.unload('t_watching')\n"
        "except fe.InvalidArgumentError as error: assert 't_watching:0' in str(error), error\n"
        "else: raise AssertionError('unloaded')\n"
        "finally: os.remove(gate)",
    )
    run_python(code)


def test_unload_names_borrowed_memory_and_prepared_constants(run_python: Run) -> None:
    run_python(
        "import ferrule as fe, numpy as np\n"
        "def refusal():\n"
        "    try: fe.unload('cpu')\n"
        "    except fe.InvalidArgumentError as error: return str(error)\n"
        "weights = np.ones((64, 64), 'f4'); x = fe.asarray(weights)\n"
        "assert x.placement == 'borrowed' and 'array float32(64, 64)' in refusal(), refusal()\n"
        "product = fe.graph(lambda a: a @ weights); product(fe.ones((2, 64))).sum().item(); del x\n"
        "assert 'graph' in refusal() or 'constant' in refusal(), refusal()\n"
        "del product; fe.unload('cpu'); assert fe.backends() == []"
    )


CHILD = """
def outcome(function):
    try: function()
    except fe.Error as error: return type(error).__name__
    return 'fine'
def in_child(function):
    child = os.fork()
    if child == 0:
        try: function(); os._exit(0)
        except BaseException:
            import traceback; traceback.print_exc(); os._exit(1)
    assert os.waitpid(child, 0)[1] == 0
"""


def test_device_of_the_parent_is_an_error_with_advice_in_a_child(run_python: Run, notes: Notes, watching: Path) -> None:
    done = run_python(
        alive(watching, CHILD) + "def child():\n"
        "    global array, result, lazy, computed, double\n"
        "    for use in (lambda: np.asarray(array), lambda: fe.eval(array + 1), lambda: double(array),\n"
        "                lambda: fe.asarray(np.ones(3, 'f4'), device=device), lambda: device.memory,\n"
        "                lambda: device.trim(), lambda: device.reset(), lambda: array.to_device('cpu')):\n"
        "        assert outcome(use) == 'UnsupportedError', (use, outcome(use))\n"
        "    try: device.open()\n"
        "    except fe.UnsupportedError as error: assert 'spawn' in str(error), error\n"
        "    device.info; fe.memory_stats(device); fe.refresh(); fe.devices()\n"
        "    assert outcome(lambda: fe.unload('t_watching')) != 'fine'\n"
        "    array = result = lazy = computed = double = None\n"
        "    assert outcome(lambda: fe.unload('t_watching')) == 'UnsupportedError'\n"
        "    assert outcome(lambda: fe.shutdown()) != 'fine'\n"
        "in_child(child)\n"
        "child = os.fork()\n"  # and one that ends like a normal program
        "if child == 0: sys.exit(0)\n"
        "assert os.waitpid(child, 0)[1] == 0\n"
        "assert np.asarray(result).tolist() == [0, 0, 0]",
        # CPython 3.12 and later warn of any fork of a process with threads.
        PYTHONWARNINGS="ignore:This process:DeprecationWarning",
    )
    assert done.stderr == ""
    assert notes() == []


def test_a_child_of_a_process_that_only_listed_devices_uses_them(run_python: Run, notes: Notes, watching: Path) -> None:
    run_python(
        f"import ferrule as fe, numpy as np, os\n{CHILD}\nfe.load_all(); fe.load({str(watching)!r}); fe.devices()\n"
        "def child():\n"
        "    x = fe.asarray(np.ones(3, 'f4'), device='t_watching')\n"
        "    assert np.asarray(x + 1).tolist() == [0, 0, 0]\n"
        "    assert fe.ones(1000).sum().item() == 1000\n"
        "in_child(child); in_child(lambda: (child(), in_child))\n"
    )
    assert not [note for note in notes() if note.startswith("in a child")]


def test_children_compute_on_the_cpu_despite_threads_of_the_parent(run_python: Run, watching: Path) -> None:
    run_python(
        f"import ferrule as fe, numpy as np, os, threading\n{CHILD}\nfe.load_all(); path = {str(watching)!r}\n"
        "ends = False\n"
        "def repeat(work):\n"
        "    def run():\n"
        "        while not ends: work()\n"
        "    thread = threading.Thread(target=run); thread.start(); return thread\n"
        "def come_and_go(): fe.load(path); fe.unload('t_watching')\n"
        "def compute(): assert (fe.ones((64, 64)) @ fe.ones((64, 64))).sum().item() == 64 ** 3\n"
        "threads = [repeat(work) for work in (fe.load_all, come_and_go, compute, compute, fe.refresh, fe.devices)]\n"
        "def child():\n"
        "    compute(); fe.load_all(); fe.refresh(); compute()\n"
        "    threads = [threading.Thread(target=compute) for _ in range(4)]\n"
        "    [t.start() for t in threads]; [t.join() for t in threads]\n"
        "try:\n"
        "    for _ in range(25): in_child(child)\n"
        "finally: ends = True",
        FERRULE_THREADS="2",
    )


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_multiprocessing_workers_compute(run_python: Run, tmp_path: Path, watching: Path, method: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import ferrule as fe, multiprocessing, numpy as np\n"
        f"path = {str(watching)!r}\n"
        "def work(number): return (fe.ones(10) * number).sum().item()\n"
        "def use_device(_):\n"
        "    if not any(b.name == 't_watching' for b in fe.backends()): fe.load(path)\n"
        "    try: return np.asarray(fe.asarray(np.ones(2, 'f4'), device='t_watching') + 1).tolist()\n"
        "    except fe.UnsupportedError as error: return 'spawn' in str(error)\n"
        "if __name__ == '__main__':\n"
        "    fe.load_all(); fe.load(path); fe.device('t_watching').open(); work(1)\n"
        f"    with multiprocessing.get_context({method!r}).Pool(2) as pool:\n"
        "        assert pool.map(work, range(20), chunksize=1) == [10 * i for i in range(20)]\n"
        "        print(pool.map(use_device, range(2)))\n"
    )
    done = run_python(str(program), mode="file")
    assert done.stdout == {"fork": "[True, True]\n", "spawn": "[[0.0, 0.0], [0.0, 0.0]]\n"}[method]


def test_refresh_brings_a_lost_device_back_and_old_arrays_stay_errors(run_python: Run, null_module: Path) -> None:
    run_python(
        f"import ferrule as fe, numpy as np; fe.load({str(null_module)!r}); lost = fe.device('null')\n"
        "lost.open(device_lost_at=2)\n"
        "double = fe.graph(lambda a: a + a)\n"
        "def fails(function):\n"
        "    try: function()\n"
        "    except fe.DeviceLostError as error: return 'execution 2' in str(error)\n"
        "x = fe.asarray(np.ones(3, 'f4'), device='null'); double(x); assert np.asarray(x).tolist() == [1, 1, 1]\n"
        "assert fails(lambda: np.asarray(double(x))) and fails(lambda: double(x)) and fails(lambda: np.asarray(x))\n"
        "assert fails(lambda: fe.eval(fe.ones(3, device='null') + 1))\n"
        "assert lost in fe.devices()\n"
        "devices = fe.refresh(); fresh = fe.device('null')\n"
        "assert fresh in devices and lost not in devices and fresh != lost and str(fresh) == str(lost)\n"
        "y = fe.asarray(np.ones(3, 'f4'), device='null')\n"
        "assert np.asarray(double(y)).tolist() == [0, 0, 0], 'a traced function is compiled anew'\n"
        "assert fails(lambda: np.asarray(x)) and fails(lambda: double(x))\n"
        "assert lost.info['open']\n"
        "import gc; del x, double; gc.collect(); assert not lost.info['open'], 'closed with the last that lived on it'"
    )


def test_modules_that_stay_mapped_are_reported(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    module = put_module(tmp_path / "modules", "t_a")
    done = run_python(
        f"import ctypes, ferrule as fe; path = {str(module)!r}\n"
        "user = ctypes.CDLL(path); fe.load(path); fe.unload('t_a')\n"
        "[remaining] = fe.load_all().to_dict()['remaining']\n"
        "assert remaining['path'] == path and 'another user' in remaining['reason'], remaining\n"
        "ctypes.CDLL(None).dlclose(ctypes.c_void_p(user._handle))\n"
        "assert fe.load_all().to_dict()['remaining'] == []"
    )
    assert "stays mapped" in done.stderr


def test_refresh_without_lost_devices_does_nothing(run_python: Run) -> None:
    assert run_python("import ferrule as fe; print(fe.refresh(), fe.backends())").stdout == "[] []\n"


IMPORT_IN_A_SUBINTERPRETER = """
import sys, warnings
warnings.simplefilter('ignore')
sys.path[:0] = {path!r}
try: import ferrule
except ImportError as error: assert 'interpreter' in str(error), error
else: raise SystemError('it was imported')
"""


def test_a_subinterpreter_is_refused(run_python: Run) -> None:
    """Python itself refuses it since 3.12."""
    interpreters = "_interpreters" if sys.version_info >= (3, 13) else "_xxsubinterpreters"
    pytest.importorskip(interpreters)
    run_python(
        f"import {interpreters} as interpreters, sys\n"
        f"program = {IMPORT_IN_A_SUBINTERPRETER!r}.format(path=sys.path)\n"
        "assert interpreters.run_string(interpreters.create(), program) is None\n"
    )


# Programs of a thread in Python code that ferrule calls: it sleeps, and so wants the GIL back while Python ends.
ENDLESS = {
    "log": """
import logging
class Handler(logging.Handler):
    def emit(self, record): inside.set(); time.sleep(0.5)
logging.getLogger("ferrule").addHandler(Handler())
fe.set_log_level("debug")
def work():
    while True: (fe.ones(3) + 1).tolist()
""",
    "trace": """
def traced(x): inside.set(); time.sleep(0.5); return x + 1
def work():
    while True: fe.graph(traced)(fe.ones(3))
""",
    "release": """
import numpy as np
class Lender(np.ndarray):
    def __del__(self): inside.set(); time.sleep(0.5)
def work():
    while True:
        x = fe.asarray(np.ones(1000, "f4").view(Lender))
        del x
        fe.eval(fe.ones(3) + 1)
""",
}


@pytest.mark.parametrize("case", ENDLESS)
def test_python_ends_while_a_thread_is_in_code_that_ferrule_calls(case: str, run_python: Run) -> None:
    """Python unwinds such a thread until 3.13. Finalizing takes a while, so that the thread sees it."""
    run_python(f"""
import threading, time
import ferrule as fe
inside = threading.Event()
{ENDLESS[case]}
class Late:
    def __del__(self, sleep=time.sleep): sleep(1.5)
late = Late()
threading.Thread(target=work, daemon=True).start()
assert inside.wait(60)
""")


def test_handles_cannot_be_pickled(run_python: Run) -> None:
    """The old protocols make an object of pybind11's base class, which ends the process."""
    run_python(
        "import ferrule as fe, pickle\n"
        "for protocol in range(pickle.HIGHEST_PROTOCOL + 1):\n"
        "    try: pickle.dumps(fe.device('cpu')._handle, protocol)\n"
        "    except TypeError as error: assert 'cannot pickle' in str(error)\n"
        "    else: raise SystemExit(protocol)\n"
    )
