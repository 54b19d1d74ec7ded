"""One device that several backends see, as a program sees it: listing, order, names."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Put = Callable[..., Path]

FIRST, SECOND, ZEROS = '"uuid of device 1"', '"uuid of device 2"', "(const char[16]){0}"


@pytest.fixture
def modules(put_module: Put, tmp_path: Path) -> Path:
    """t_a and t_b list the same two GPUs in different orders; t_c lists the second one, by address only."""
    folder = tmp_path / "modules"
    gpu = "TEST_KIND=FE_DEVICE_GPU"
    addresses = 'TEST_ADDRESSES="0000:01:00.0","0000:02:00.0"'
    put_module(folder, "t_a", gpu, "TEST_DEVICES=2", f"TEST_UUIDS={FIRST},{SECOND}", addresses, preference=3)
    put_module(folder, "t_b", gpu, "TEST_DEVICES=2", f"TEST_UUIDS={SECOND},{FIRST}", preference=2)
    put_module(folder, "t_c", gpu, 'TEST_ADDRESSES="02:00.0"', preference=1)
    return folder


def shown(run_python: Run, modules: Path, code: str, **variables: str) -> Any:
    """The arguments of `show(...)` in the code, run with these modules and the CPU's."""
    head = (
        "import json, ferrule as fe\n"
        "def show(*what): print(json.dumps(what))\n"
        f"report = fe.load_all(dirs=[{str(modules)!r}, fe.default_roots])\n"
    )
    return json.loads(run_python(head + code, **variables).stdout.splitlines()[-1])


def test_a_device_is_listed_once_and_knows_its_backends(run_python: Run, modules: Path) -> None:
    code = "show(*[[str(d), d.backend.name, [b.name for b in d.backends], d.info['backends']] for d in fe.devices()])"
    assert shown(run_python, modules, code) == [
        ["gpu:0", "t_a", ["t_a", "t_b"], ["t_a", "t_b"]],
        ["gpu:1", "t_a", ["t_a", "t_b", "t_c"], ["t_a", "t_b", "t_c"]],
        ["cpu:0", "cpu", ["cpu"], ["cpu"]],
    ]


def test_each_backend_lists_its_own_devices_without_unification(run_python: Run, modules: Path) -> None:
    code = "show(*[[d.backend.name, d.info['index']] for d in fe.devices(unified=False)])"
    assert shown(run_python, modules, code) == [["t_a", 0], ["t_a", 1], ["t_b", 0], ["t_b", 1], ["t_c", 0], ["cpu", 0]]


def test_the_report_names_the_devices_as_each_backend_numbers_them(run_python: Run, modules: Path) -> None:
    rows = shown(run_python, modules, "show(*[[c.name, list(c.devices)] for c in report.loaded if c.name != 'cpu'])")
    assert sorted(rows) == [["t_a", ["t_a:0", "t_a:1"]], ["t_b", ["t_b:0", "t_b:1"]], ["t_c", ["t_c:0"]]]


def test_the_users_preference_goes_first_and_orders_devices(run_python: Run, modules: Path) -> None:
    code = "show(str(fe.best_device()), *[[str(d), d.backend.name, d.info['index']] for d in fe.devices()])"
    assert shown(run_python, modules, code, FERRULE_PREFER="T_C,t_b") == [
        "gpu:0",
        ["gpu:0", "t_c", 0],  # the second of t_a
        ["gpu:1", "t_b", 1],
        ["cpu:0", "cpu", 0],
    ]


def test_an_unknown_preference_is_one_warning(run_python: Run, modules: Path) -> None:
    code = f"import ferrule as fe; [fe.load_all(dirs=[{str(modules)!r}]) for _ in range(3)]; fe.devices()"
    log = run_python(code, FERRULE_PREFER="t_b,cudda").stderr
    assert log.count("FERRULE_PREFER names cudda, but no such backend is loaded; loaded: t_b, t_a, t_c") == 1, log


def test_device_is_reachable_through_another_backend(run_python: Run, modules: Path) -> None:
    code = (
        "view = fe.device('gpu:1', backend='t_b')\n"
        "assert view == fe.device('t_b:0') == fe.device(view) != fe.device('gpu:1')\n"
        "assert fe.device(fe.device('gpu:1'), backend='T_B') == view\n"
        "assert fe.device('t_c', backend=fe.device('gpu:1').backend) == fe.device('gpu:1')\n"
        "try: fe.device('gpu:0', backend='t_c')\n"
        "except fe.NotFoundError as error: show(str(view), str(error))"
    )
    message = "device gpu:0 is not seen by backend 't_c'; it is seen by t_a, t_b"
    assert shown(run_python, modules, code) == ["t_b:0", message]


def test_every_listed_name_finds_its_device(run_python: Run, modules: Path) -> None:
    code = (
        "assert all(fe.device(d.name) == d for unified in (True, False) for d in fe.devices(unified))\n"
        "show(len(set(fe.devices())), len({*fe.devices(), *fe.devices(unified=False)}))"
    )
    assert shown(run_python, modules, code) == [3, 6]


def test_a_pickled_device_is_the_device_of_its_name(run_python: Run, modules: Path, tmp_path: Path) -> None:
    path = tmp_path / "devices"
    save = (
        "import pickle, copy, pathlib\n"
        "found = [fe.device('gpu:1'), fe.device('gpu:1', backend='t_b')]\n"
        "assert pickle.loads(pickle.dumps(found)) == found\n"
        "assert all(made is d for d in found for made in (copy.copy(d), copy.deepcopy([d])[0]))\n"
        f"show(pathlib.Path({str(path)!r}).write_bytes(pickle.dumps(found)))"
    )
    shown(run_python, modules, save)
    load = f"import pickle, pathlib; show(*map(str, pickle.loads(pathlib.Path({str(path)!r}).read_bytes())))"
    assert shown(run_python, modules, load) == ["gpu:1", "t_b:0"]
    alone = (
        "import pathlib, pickle, ferrule as fe\n"
        f"try: pickle.loads(pathlib.Path({str(path)!r}).read_bytes())\n"
        "except fe.NotFoundError as error: print(error)"
    )
    assert run_python(alone).stdout.startswith("there is no device 'gpu:1'; there is cpu:0")


def test_synchronize_waits_for_a_device_that_another_backend_sees_first(run_python: Run, modules: Path) -> None:
    code = (
        "from ferrule import _ferrule\n"
        "seconds, waits = [fe.device('gpu:0', backend='t_b').open()], []\n"
        "wait = _ferrule.Device.synchronize\n"
        "_ferrule.Device.synchronize = lambda handle: waits.append(handle.name) or wait(handle)\n"
        "fe.synchronize(); show(*waits)"
    )
    assert shown(run_python, modules, code) == ["t_b:1"]  # t_b lists them in the other order


def test_equality_and_hash_do_not_depend_on_names(run_python: Run, modules: Path) -> None:
    code = (
        "first = fe.device('gpu:0'); before = hash(first); places = {first: 'here'}\n"
        "fe.unload('t_b'); alone = str(first)\n"
        f"fe.load({str(modules / 'libferrule-t_b.so')!r})\n"
        "assert hash(first) == before and first == fe.device('t_a:0') and places[fe.device('gpu:0')] == 'here'\n"
        "show(alone, str(first))"
    )
    assert shown(run_python, modules, code) == ["t_a:0", "gpu:0"]


def test_device_of_a_reloaded_backend_is_another_device(run_python: Run, modules: Path) -> None:
    code = (
        "old = fe.device('t_c:0'); fe.reload('t_c'); new = fe.device('t_c:0')\n"
        "show(old == new, len({old, new}), [b.name for b in new.backends], [b.name for b in old.backends])"
    )
    assert shown(run_python, modules, code) == [False, 2, ["t_a", "t_b", "t_c"], ["t_c"]]


def test_identity_of_a_device_is_shown(run_python: Run, modules: Path) -> None:
    code = (
        "infos = [fe.device(name).info for name in ('t_a:0', 't_c', 'cpu')]\n"
        "show(*[[info['uuid'], info['pci_address']] for info in infos])"
    )
    uuid = b"uuid of device 1".hex()
    text = "-".join((uuid[:8], uuid[8:12], uuid[12:16], uuid[16:20], uuid[20:]))
    assert shown(run_python, modules, code) == [[text, "0000:01:00.0"], [None, "02:00.0"], [None, ""]]


@pytest.mark.parametrize(
    ("first", "second"),
    [
        ((), ()),
        ((f"TEST_UUIDS={ZEROS}",), (f"TEST_UUIDS={ZEROS}",)),
        (("TEST_DEVICES=2", f"TEST_UUIDS={FIRST},{FIRST}"), (f"TEST_UUIDS={FIRST}",)),
        ((f"TEST_UUIDS={FIRST}", 'TEST_ADDRESSES="01:00.0"'), (f"TEST_UUIDS={SECOND}", 'TEST_ADDRESSES="01:00.0"')),
        ((f"TEST_UUIDS={FIRST}",), (f"TEST_UUIDS={FIRST}", "TEST_KIND=FE_DEVICE_SOFTWARE")),
    ],
    ids=["no identity", "zeros", "shared", "one address, two UUIDs", "simulated"],
)
def test_devices_without_certain_identity_stay_separate(
    run_python: Run, put_module: Put, tmp_path: Path, first: tuple[str, ...], second: tuple[str, ...]
) -> None:
    gpu = "TEST_KIND=FE_DEVICE_GPU"
    put_module(tmp_path / "modules", "t_a", gpu, *first)
    put_module(tmp_path / "modules", "t_b", *(second if any("KIND" in word for word in second) else (gpu, *second)))
    both = shown(run_python, tmp_path / "modules", "show(len(fe.devices()), len(fe.devices(unified=False)))")
    assert both[0] == both[1]


def test_backend_named_like_a_device_kind_keeps_that_name(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    for stem in ("accelerator", "t_b"):
        put_module(tmp_path / "modules", stem, "TEST_KIND=FE_DEVICE_ACCELERATOR", f"TEST_UUIDS={FIRST}")
    code = "show(*[str(d) for d in fe.devices()], str(fe.device('accelerator:0', backend='t_b')))"
    variables = {"FERRULE_PREFER": "t_b"}
    assert shown(run_python, tmp_path / "modules", code, **variables) == ["t_b:0", "cpu:0", "t_b:0"]
