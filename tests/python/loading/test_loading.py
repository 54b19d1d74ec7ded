"""Loading as a program sees it: modules found, modules opened, and reasons for the others."""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ferrule as fe
import pytest

Run = Callable[..., Any]
Put = Callable[..., Path]
Notes = Callable[[], list[str]]

STATES = """
import json, ferrule as fe
report = fe.load_all({arguments})
print(json.dumps([[c.path.name, c.state, c.reason] for c in report.candidates]))
"""


def rows(run_python: Run, arguments: str = "", **variables: object) -> dict[str, tuple[str, str]]:
    """State and reason of each candidate, by file name."""
    done = run_python(STATES.format(arguments=arguments), **variables)
    return {name: (state, reason) for name, state, reason in json.loads(done.stdout.splitlines()[-1])}


def test_importing_imports_nothing_for_messages_and_mapped_files(run_python: Run) -> None:
    run_python(
        "import sys, ferrule as fe\n"
        "late = {'ferrule.text', 'ferrule.array.mapped_files', 'ferrule.loading.load_error', 'ferrule.loading.load'}\n"
        "assert not late & set(sys.modules), late & set(sys.modules)\n"
        "assert fe.LoadError.__module__ == 'ferrule.loading.load_error'"
    )


def test_import_loads_no_backend(run_python: Run) -> None:
    assert run_python("import ferrule as fe; print(fe.backends())").stdout == "[]\n"


def test_load_all_loads_one_cpu_variant_and_says_why_not_the_others(run_python: Run) -> None:
    found = rows(run_python)
    assert [state for state, _ in found.values()].count("loaded") == 1
    assert all(reason for state, reason in found.values() if state not in ("loaded", "outranked"))


def test_no_other_variant_of_the_wheel_is_opened(run_python: Run) -> None:
    code = (
        "import ferrule as fe\n"
        "[loaded] = fe.load_all().loaded; fe.eval(fe.ones((8, 8)) @ fe.ones((8, 8)))\n"
        "files = {line.split()[-1] for line in open('/proc/self/maps') if 'libferrule-' in line}\n"
        "assert files == {str(loaded.path)}, files"
    )
    run_python(code)


def test_outranked_and_incompatible_variants_are_never_opened(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path
) -> None:
    folder = tmp_path / "modules"
    put_module(folder, "t_pair-impossible", rank=3, cpu_features=["a_feature_of_tomorrow"])
    put_module(folder, "t_pair-best", rank=2)
    put_module(folder, "t_pair-loser", rank=1)
    put_module(folder, "t_pair")
    found = rows(run_python, f"dirs=[{str(folder)!r}]")
    assert {name: state for name, (state, _) in found.items()} == {
        "libferrule-t_pair-impossible.so": "incompatible",
        "libferrule-t_pair-best.so": "loaded",
        "libferrule-t_pair-loser.so": "outranked",
        "libferrule-t_pair.so": "outranked",
    }
    assert "a_feature_of_tomorrow" in found["libferrule-t_pair-impossible.so"][1]
    assert notes() == ["opened t_pair-best", "initialised t_pair-best"]


def test_second_best_candidate_is_used_if_the_best_fails_in_init(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path
) -> None:
    put_module(tmp_path / "modules", "t_pair-best", "TEST_INIT_FAILS=1", rank=9)
    put_module(tmp_path / "modules", "t_pair-second", rank=2)
    put_module(tmp_path / "modules", "t_pair-third", rank=1)
    found = rows(run_python, f"dirs=[{str(tmp_path / 'modules')!r}]")
    assert found["libferrule-t_pair-best.so"] == ("error", "the test wants it to fail")
    assert found["libferrule-t_pair-second.so"][0] == "loaded"
    assert "opened t_pair-third" not in notes()


def test_first_root_wins_for_modules_of_one_name(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path
) -> None:
    folders = [tmp_path / "first", tmp_path / "second"]
    put_module(folders[0], "t_same", "TEST_DEVICES=2", rank=1)
    put_module(folders[1], "t_same", rank=2)
    code = (
        f"import ferrule as fe; report = fe.load_all(dirs={[str(folder) for folder in folders]})\n"
        "print([(c.path.parent.name, c.state, c.devices) for c in report])"
    )
    shown = run_python(code).stdout
    assert shown == "[('first', 'loaded', ('t_same:0', 't_same:1')), ('second', 'outranked', ())]\n"
    assert notes() == ["opened t_same", "initialised t_same"]


def test_loading_twice_opens_once(run_python: Run, notes: Notes, put_module: Put, tmp_path: Path) -> None:
    module = put_module(tmp_path / "modules", "t_a", rank=1)
    run_python(
        f"import ferrule as fe; path = {str(module)!r}; dirs = [path.rsplit('/', 1)[0], fe.default_roots]\n"
        "first, second = fe.load_all(dirs=dirs), fe.load_all(dirs=dirs)\n"
        "assert first.ok and second.ok and len(fe.backends()) == 2\n"
        "assert [c.path for c in first.loaded] == [c.path for c in second.loaded]\n"
        "assert fe.load(path) == fe.load(path)"
    )
    assert notes() == ["opened t_a", "initialised t_a"]


def test_eight_threads_load_at_once(run_python: Run, notes: Notes, put_module: Put, tmp_path: Path) -> None:
    put_module(tmp_path / "modules", "t_pair-low", rank=1)
    put_module(tmp_path / "modules", "t_pair-high", rank=2)
    run_python(
        "import ferrule as fe, threading\n"
        "reports, sums = [], []\n"
        "barrier = threading.Barrier(8)\n"
        "def work():\n"
        "    barrier.wait()\n"
        f"    reports.append(fe.load_all(dirs=[{str(tmp_path / 'modules')!r}, fe.default_roots]))\n"
        "    sums.append(fe.ones(5).sum().item())\n"
        "threads = [threading.Thread(target=work) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "assert sums == [5] * 8 and len(reports) == 8 and all(r.ok for r in reports)\n"
        "assert sorted(b.name for b in fe.backends()) == ['cpu', 't_pair']"
    )
    assert notes() == ["opened t_pair-high", "initialised t_pair-high"]


def test_first_use_of_a_device_loads(run_python: Run) -> None:
    assert run_python("import ferrule as fe; print(fe.ones(3).device)").stdout == "cpu:0\n"


def test_first_uses_on_many_threads_wait_for_one_load(run_python: Run) -> None:
    code = (
        "import threading, ferrule as fe\n"
        "start, names = threading.Barrier(8), []\n"
        "def use(): start.wait(); names.append(fe.ones(3).device.name)\n"
        "threads = [threading.Thread(target=use) for _ in range(8)]\n"
        "[t.start() for t in threads]; [t.join() for t in threads]\n"
        "print(set(names), len(names))"
    )
    assert run_python(code).stdout == "{'cpu:0'} 8\n"


def test_autoload_can_be_switched_off(run_python: Run) -> None:
    code = (
        "import ferrule as fe\n"
        "try: fe.best_device()\n"
        "except fe.NotFoundError as e: print('not found')\n"
        "fe.load_all(); print(fe.best_device())"
    )
    assert run_python(code, FERRULE_AUTOLOAD="0").stdout == "not found\ncpu:0\n"


def test_require_raises_with_the_report(run_python: Run) -> None:
    code = (
        "import ferrule as fe\n"
        "try: fe.load_all(require=['cuda'])\n"
        "except ImportError as e: print(type(e).__name__, len(e.report.candidates) > 0, 'cuda' in str(e))"
    )
    assert run_python(code).stdout == "LoadError True True\n"


def test_unload_is_refused_with_a_reason_while_an_array_exists(run_python: Run) -> None:
    run_python(
        "import ferrule as fe, numpy as np\n"
        "fe.load_all(); x = fe.ones((2, 3)) + 1; fe.eval(x)\n"
        "try: fe.unload('cpu')\n"
        "except fe.InvalidArgumentError as e: assert 'array float32(2, 3)' in str(e), e\n"
        "else: raise AssertionError('unloaded')\n"
        "del x; fe.unload('cpu'); assert fe.backends() == []\n"
        "fe.load_all(); assert fe.ones(3).sum().item() == 3"
    )


def test_unload_of_an_unloaded_name_is_an_error(run_python: Run) -> None:
    run_python(
        "import ferrule as fe\n"
        "for name in ('cpu', 'nonsense', ''):\n"
        "    try: fe.unload(name)\n"
        "    except fe.Error as e: assert isinstance(e, (LookupError, ValueError))\n"
        "    else: raise AssertionError(name)"
    )


def test_unload_closes_and_the_next_load_opens_again(
    run_python: Run, notes: Notes, put_module: Put, tmp_path: Path
) -> None:
    module = put_module(tmp_path / "modules", "t_a")
    run_python(
        f"import ferrule as fe; path = {str(module)!r}\n"
        "for name in ('t_a', 'T_A'):\n"
        "    assert fe.load(path).name == 't_a'; fe.unload(name); assert fe.backends() == []\n"
        "    assert path not in open('/proc/self/maps').read()"
    )
    assert notes() == ["opened t_a", "initialised t_a", "closed t_a"] * 2


def test_reload_uses_the_changed_file(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    old = put_module(tmp_path / "modules", "t_a")
    new = put_module(tmp_path / "new", "t_a", 'TEST_VERSION="2"', "TEST_DEVICES=2")
    code = (
        f"import ferrule as fe, os; path, new = {str(old)!r}, {str(new)!r}\n"
        "def state(): [b] = fe.backends(); return b.version, [str(d) for d in fe.devices()]\n"
        "fe.load(path); assert state() == ('1', ['t_a:0'])\n"
        "os.replace(new, path)\n"
        "assert state() == ('1', ['t_a:0']), 'not before it is told'\n"
        "assert fe.reload('t_a').version == '2'; assert state() == ('2', ['t_a:0', 't_a:1'])\n"
        "assert fe.reload('t_a').version == '2', 'also when nothing has changed'\n"
        "open(new, 'w').write('text'); os.replace(new, path)\n"
        "try: fe.reload('t_a')\n"
        "except fe.IoError as e: assert 'text file' in str(e), e\n"
        "else: raise AssertionError\n"
        "assert state() == ('2', ['t_a:0', 't_a:1']), 'the old one stays'\n"
        "try: fe.reload('t_b')\n"
        "except fe.NotFoundError as e: assert 't_b' in str(e), e\n"
        "else: raise AssertionError"
    )
    run_python(code, FERRULE_AUTOLOAD="0")


KEPT = """
import ferrule as fe, gc
path = fe.device("cpu").backend.path
fe.load(path, as_name="mine")
x = fe.ones(3, device="mine") + 1
fe.eval(x)
graph = fe.graph(lambda x: x * 2)
graph(x)
Out, _ = {2: [x, 5], 3: 7}, x  # as IPython keeps the results of cells
"""


def test_reload_names_the_variables_that_hold_arrays(run_python: Run) -> None:
    run_python(
        KEPT + "try: fe.reload('mine')\n"
        "except fe.InvalidArgumentError as e: said = str(e)\n"
        "assert 'there still is array float32(3,)' in said and 'are in x, Out[2], _;' in said, said\n"
        "assert said.endswith(\"reload('mine', force=True) leaves them unusable\"), said\n"
        "try: fe.unload('mine')\n"
        "except fe.InvalidArgumentError as e: assert 'are in x, Out[2], _;' in str(e), e\n"
        "del x, Out, _, graph; fe.reload('mine')"
    )


def test_reload_by_force_leaves_old_arrays_unusable(run_python: Run) -> None:
    run_python(
        KEPT + "lazy, lost, old = x * 3, 0, x.device\n"
        "new = fe.reload('mine', force=True)\n"
        "assert [b.name for b in fe.backends()].count('mine') == 1 and not new.info['closed']\n"
        "y = fe.ones(3, device='mine')\n"
        "uses = [lambda: x.tolist(), lambda: fe.eval(lazy), lambda: graph(x), lambda: x + 1, lambda: repr(x),\n"
        "        lambda: x.to_device('cpu'), lambda: fe.ones(2, device=old).tolist()]\n"
        "for use in uses:\n"
        "    try: print(use())\n"
        "    except fe.DeviceLostError as e:\n"
        "        lost += 'device mine:0 was lost (its backend was reloaded by force) with its contents' in str(e)\n"
        "assert lost == len(uses), lost\n"
        "assert x.shape == (3,) and graph(y).tolist() == [2, 2, 2]\n"
        "del x, lazy, Out, _, graph, uses, use, old; gc.collect()\n"
        "fe.reload('mine', force=True); assert (y.shape, fe.ones(2, device='mine').tolist()) == ((3,), [1, 1])\n"
        "del y; gc.collect(); fe.reload('mine'); fe.unload('mine')"
    )


def test_module_that_was_reloaded_by_force_is_unmapped_after_its_last_array(
    run_python: Run, null_module: Path, tmp_path: Path
) -> None:
    for folder in ("old", "new"):
        (tmp_path / folder).mkdir()
        for suffix in (".so", ".json"):
            shutil.copy(null_module.with_suffix(suffix), tmp_path / folder)
    path, new = (tmp_path / folder / null_module.name for folder in ("old", "new"))
    run_python(
        f"import ferrule as fe, os; path = {str(path)!r}; fe.load(path); x = fe.ones(3, device='null'); fe.eval(x)\n"
        f"os.replace({str(new)!r}, path); mapped = lambda: path in open('/proc/self/maps').read()\n"
        "fe.reload('null', force=True); assert mapped()\n"
        "y = fe.ones(3, device='null'); fe.eval(y); del x; assert not mapped()\n"
        "assert fe.load_all().to_dict()['remaining'] == [] and fe.device('null').backend.path.samefile(path)"
    )


def test_shutdown_then_load_again(run_python: Run) -> None:
    run_python(
        "import ferrule as fe; fe.load_all(); fe.shutdown(); assert fe.backends() == []; fe.load_all(); fe.ones(2)"
    )


def test_devices_are_found_by_their_names(run_python: Run) -> None:
    run_python(
        "import ferrule as fe\n"
        "assert fe.device('cpu') == fe.device('CPU:0') == fe.best_device()\n"
        "for name in ('gpu', 'nonsense', 'cpu:7'):\n"
        "    try: fe.device(name)\n"
        "    except LookupError as e: assert name.split(':')[0] in str(e)\n"
        "    else: raise AssertionError(name)\n"
        "for name in ('', 'cpu:', 'cpu:x', ':1'):\n"
        "    try: fe.device(name)\n"
        "    except (LookupError, ValueError) as e: pass\n"
        "    else: raise AssertionError(name)"
    )


def test_the_null_device_is_never_the_best(run_python: Run, null_module: Path) -> None:
    code = "import ferrule as fe; fe.load_all(only=['null']); print(fe.devices())\ntry: fe.best_device()\n"
    code += "except fe.NotFoundError: print('none')"
    assert "none" in run_python(code, FERRULE_BACKEND_PATH=null_module).stdout


def test_unknown_device_options_are_errors_that_list_the_known(run_python: Run, null_module: Path) -> None:
    code = (
        "import ferrule as fe; fe.load_all(); d = fe.device('null')\n"
        "try: d.open(nonsense=1)\n"
        "except fe.InvalidArgumentError as e: print('slow_ms' in str(e))\n"
        "try: d.open(slow_ms=None)\n"
        "except TypeError as e: assert 'slow_ms' in str(e) and 'None' in str(e)\n"
        "d.open(slow_ms=0, hidden=False); assert d.info['open']"
    )
    assert run_python(code, FERRULE_BACKEND_PATH=null_module).stdout == "True\n"


def test_the_report_is_text_data_and_html(run_python: Run) -> None:
    run_python(
        "import ferrule as fe, json\n"
        "report = fe.load_all(); loaded = report.loaded[0]\n"
        "assert loaded.name in str(report) and loaded.path.name in report._repr_html_()\n"
        "assert json.loads(report.to_json())['candidates'] and str(loaded.path) == str(fe.backends()[0].path)"
    )


@pytest.mark.skipif(sys.platform == "win32", reason="names of files are Unicode there")
def test_the_dict_of_a_report_is_its_json(run_python: Run, null_module: Path, tmp_path: Path) -> None:
    """Also if a name is no text: a module is linked under such names, and one file is no module."""
    for name in (b"libferrule-null.so", b"libferrule-\xff\xfe\xe4\xb8-\xc3\x28.so"):
        os.link(null_module, os.fsencode(tmp_path) + b"/" + name)
    (tmp_path / "libferrule-text.so").write_text("hello")
    run_python(
        "import ferrule as fe, json\n"
        "report = fe.load_all(); data = report.to_dict()\n"
        "states = {row['state'] for row in data['candidates']}\n"
        "assert {'loaded', 'error'} <= states and len(data['roots']) > 1, data\n"
        "assert any('\\ufffd' in row['path'] for row in data['candidates']), data\n"
        "assert json.dumps(data) == json.dumps(json.loads(report.to_json()))\n"
        "data['candidates'].clear(); assert report.to_dict()['candidates']",
        FERRULE_BACKEND_DIR=tmp_path,
    )


def test_wrong_options_of_a_load_are_errors_that_name_them() -> None:
    for option, value, message in [
        ("probe", "sometimes", "load_all: probe is 'sometimes', and must be one of: auto, always, never"),
        ("trust", "everyone", "load_all: trust is 'everyone', and must be one of: owner, manifest-hash, any"),
        ("select", "best", "load_all: select is 'best', and must be one of: manifest, score"),
        ("probe", 5, "load_all: probe is a word, not 5"),
        ("only", [5], r"load_all: only is a list of names, not \[5\]"),
    ]:
        with pytest.raises(fe.InvalidArgumentError, match=message):
            fe.load_all(**{option: value})
    with pytest.raises(fe.InvalidArgumentError, match="load: as_name is a word, not 5"):
        fe.load("x", as_name=5)  # type: ignore[arg-type]
    with pytest.raises(fe.InvalidArgumentError, match="load: probe is 'sometimes'"):
        fe.load("x", probe="sometimes")


def test_loading_and_asking_need_no_json(run_python: Run) -> None:
    run_python(
        "import sys, ferrule as fe\n"
        "report = fe.load_all(); assert report.ok and report.roots and report.to_dict()\n"
        "device = fe.device('cpu').open(); device.info, device.backend.info, fe.stats(), fe.memory_stats(device)\n"
        "assert 'json' not in sys.modules"
    )


def test_log_lines_go_to_python_logging(run_python: Run) -> None:
    code = (
        "import logging; logging.basicConfig(level=logging.DEBUG, format='%(name)s|%(message)s')\n"
        "import ferrule as fe; fe.load_all()"
    )
    assert "ferrule|" in run_python(code, FERRULE_LOG="debug").stderr


def test_log_lines_that_were_asked_for_are_printed_by_programs_without_logging(run_python: Run) -> None:
    code = "import ferrule as fe; fe.load_all()"
    assert "ferrule: " in run_python(code, FERRULE_LOG="debug").stderr
    assert run_python(code).stderr == ""


def test_exit_prints_nothing(run_python: Run) -> None:
    done = run_python(
        "import ferrule as fe, numpy as np, threading\n"
        "x = fe.asarray(np.ones(1000, 'f4')); y = x + 1; z = np.asarray(y); w = fe.graph(lambda a: a * 2)(x)\n"
        "cycle = [y, w]; cycle.append(cycle)"
    )
    assert done.stderr == ""


def test_report_is_pickled_with_its_contents(run_python: Run) -> None:
    run_python("""
import pickle, ferrule as fe
report = fe.load_all()
again = pickle.loads(pickle.dumps(report))
assert (str(again), again.to_json()) == (str(report), report.to_json())
assert [candidate.path for candidate in again] == [candidate.path for candidate in report]
assert again.to_dict() == report.to_dict() and again.to_dict() is not again.to_dict()
""")
