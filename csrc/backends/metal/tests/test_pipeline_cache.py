"""Compiled pipelines are kept for the next process. Damaged, foreign and unwritable archives never fail a program."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from backend_processes import Processes

Run = Callable[..., str]

KERNELS = """
a = np.arange(16, dtype=np.float32).reshape(4, 4) / 8
x = fe.asarray(a, device="metal:0")
print(np.allclose(np.asarray(fe.graph(lambda x: fe.sum(fe.exp(x) @ x, axis=0))(x)), (np.exp(a) @ a).sum(axis=0)))
"""
OTHER_KERNELS = """
x = fe.asarray(np.array([3.0, 1.0, 2.0], np.float32), device="metal:0")
print(np.asarray(fe.sort(x)).tolist() == [1.0, 2.0, 3.0])
"""


@pytest.fixture
def pipelines(run: Run, tmp_path: Path) -> Callable[..., Counter[str]]:
    """Runs a program whose results must be right, and counts how its pipelines were made."""
    numbers = iter(range(1000))

    def count(program: str = KERNELS, **variables: str) -> Counter[str]:
        log = tmp_path / f"log{next(numbers)}"
        temporary = tmp_path / "temporary"
        temporary.mkdir(exist_ok=True)
        settings = {
            "FERRULE_EMULATION_METAL_LOG": str(log),
            "FERRULE_EMULATION_METAL_LEAKS": "1",
            "TMPDIR": str(temporary),
        }
        ends = '\ndel x\nimport gc; gc.collect(); fe.unload("metal")\n'
        assert run(program + ends, **(settings | variables)) == "True\n"
        assert list(temporary.iterdir()) == []
        lines = [line for line in log.read_text().splitlines() if line.startswith("pipeline ")]
        return Counter(line.split(maxsplit=2)[2] for line in lines)

    return count


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "cache"


def entries(cache: Path) -> list[Path]:
    return sorted(cache.glob("module_metal_pipelines-*"))


def entry_of(key: bytes, text: bytes) -> bytes:
    """The format of csrc/core/cache/disk_cache.cpp."""
    body = b"%08x\n" % len(key) + key + text
    return b"ferrule-cache 1 " + hashlib.sha256(body).hexdigest().encode() + b"\n" + body


def key_and_text(entry: bytes) -> tuple[bytes, bytes]:
    body = entry.split(b"\n", 1)[1]
    size = int(body[:8], 16)
    return body[9 : 9 + size], body[9 + size :]


def test_next_process_takes_each_pipeline_from_the_archive(pipelines: Callable[..., Counter[str]], cache: Path) -> None:
    first = pipelines()
    assert first["archived"] == first["of an archive"] > 1
    assert first["compiled"] == 0
    [entry] = entries(cache)
    key, _ = key_and_text(entry.read_bytes())
    assert key.startswith(b"ferrule-metal ")
    assert b"\ndevice Simulated Metal device\nMetal, GPU family Apple8\nsystem Version 11.0 (Build 20A0)" in key
    kept = entry.read_bytes()
    assert pipelines() == {"of an archive": first["of an archive"]}
    assert entry.read_bytes() == kept


def test_kernels_of_several_processes_are_gathered(pipelines: Callable[..., Counter[str]]) -> None:
    pipelines()
    assert pipelines(OTHER_KERNELS)["archived"] > 0
    for program in (KERNELS, OTHER_KERNELS):
        assert set(pipelines(program)) == {"of an archive"}


def test_graphs_that_a_process_compiles_one_after_the_other_are_kept(pipelines: Callable[..., Counter[str]]) -> None:
    program = """
a = np.arange(16, dtype=np.float32).reshape(4, 4)
x = fe.asarray(a, device="metal:0")
ops = (fe.exp, fe.sort, fe.sum, fe.softmax, fe.cumulative_sum, lambda x, axis: x @ x)
print(all(np.asarray(op(x, axis=0) if op is not fe.exp else op(x)).size in (4, 16) for op in ops))
"""
    first = pipelines(program)
    assert first["archived"] > 5
    assert set(pipelines(program)) == {"of an archive"}


@pytest.mark.parametrize(
    "damage",
    [
        lambda entry: entry[:-9] + bytes([entry[-9] ^ 1]) + entry[-8:],
        lambda entry: entry[: len(entry) // 2],
        lambda entry: b"",
        lambda entry: b"\0" * len(entry),
        # Entries that are whole, whose text is no archive, or the half of one.
        lambda entry: entry_of(key_and_text(entry)[0], b"no archive"),
        lambda entry: entry_of(key_and_text(entry)[0], b""),
        lambda entry: entry_of(key_and_text(entry)[0], key_and_text(entry)[1][:40]),
    ],
    ids=["changed", "cut", "empty", "zeros", "another_text", "no_text", "half_of_the_text"],
)
def test_damaged_archive_is_left_aside_and_replaced(
    damage: Callable[[bytes], bytes], pipelines: Callable[..., Counter[str]], cache: Path
) -> None:
    first = pipelines()
    [entry] = entries(cache)
    whole = entry.read_bytes()
    entry.write_bytes(damage(whole))
    assert pipelines() == first
    assert entry.read_bytes() == whole
    assert pipelines()["archived"] == 0


@pytest.mark.parametrize("variable", ["FERRULE_EMULATION_METAL_NAME", "FERRULE_EMULATION_METAL_SYSTEM"])
def test_archive_of_another_gpu_or_system_is_not_used(
    variable: str, pipelines: Callable[..., Counter[str]], cache: Path, start: Processes
) -> None:
    first = pipelines()
    [own] = entries(cache)
    assert pipelines(**{variable: "another"}) == first
    [other] = set(entries(cache)) - {own}
    for _ in range(2):  # each has its own
        assert pipelines()["archived"] == pipelines(**{variable: "another"})["archived"] == 0
    # Bytes of the other one in the place of the own, as a key that says too little would lead to.
    own.write_bytes(entry_of(key_and_text(own.read_bytes())[0], key_and_text(other.read_bytes())[1]))
    told = start(KERNELS, FERRULE_LOG="debug").log
    assert "metal: the archive of pipelines is not used: " in told
    assert f"is one of another {'device' if 'NAME' in variable else 'system'}" in told
    assert pipelines()["archived"] == 0


def test_other_texts_or_versions_have_another_key(pipelines: Callable[..., Counter[str]], cache: Path) -> None:
    pipelines()
    key, _ = key_and_text(entries(cache)[0].read_bytes())
    version, texts = key.split(b"\n")[:2]
    assert len(version.split()) == 2
    hash_ = 0xCBF29CE484222325
    metal, names = Path(__file__).resolve().parents[1], []
    for folder, pattern in ((metal / "kernels", "*.metal"), (metal.parents[1] / "sdk/ferrule/kernels", "*.inc")):
        for path in sorted(folder.rglob(pattern), key=lambda path: path.relative_to(folder).as_posix()):
            names.append(path)
            for byte in path.read_bytes():
                hash_ = (hash_ ^ byte) * 0x100000001B3 & (1 << 64) - 1
    assert texts == b"texts %d" % hash_
    assert len(names) > 20


def test_folder_that_is_a_file_or_open_to_others_is_not_used(
    pipelines: Callable[..., Counter[str]], tmp_path: Path, start: Processes
) -> None:
    file, shared = tmp_path / "file", tmp_path / "shared"
    file.write_text("")
    shared.mkdir()
    shared.chmod(0o777)
    for place in (file, shared, Path("relative")):
        done = start(KERNELS, FERRULE_CACHE_DIR=str(place))
        assert done.output == "True\n"
        assert "FERRULE_CACHE_DIR" in done.log
        assert pipelines(FERRULE_CACHE_DIR=str(place), FERRULE_LOG="error")["of an archive"] > 0
    assert list(shared.iterdir()) == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_folder_that_is_read_only_is_read(pipelines: Callable[..., Counter[str]], cache: Path) -> None:
    pipelines()
    cache.chmod(0o500)
    try:
        assert pipelines(FERRULE_LOG="error")["archived"] == 0
        assert pipelines(OTHER_KERNELS, FERRULE_LOG="error")["archived"] > 0
        assert pipelines(OTHER_KERNELS, FERRULE_LOG="error")["archived"] > 0
    finally:
        cache.chmod(0o700)


def test_entry_that_cannot_be_written_costs_only_time(
    pipelines: Callable[..., Counter[str]], cache: Path, start: Processes
) -> None:
    first = pipelines()
    [entry] = entries(cache)
    entry.unlink()
    entry.mkdir()
    (entry / "file").touch()
    for _ in range(2):
        assert pipelines(FERRULE_LOG="error") == first
    assert "nothing can be written into it" in start(KERNELS).log
    assert entries(cache) == [entry]
    assert list(cache.glob("*.unfinished")) == []


def test_without_a_folder_for_temporary_files_pipelines_are_compiled(start: Processes, cache: Path) -> None:
    for _ in range(2):
        done = start(KERNELS, TMPDIR="/nonexistent", FERRULE_LOG="debug")
        assert done.output == "True\n"
        assert "metal: the archive of pipelines cannot be written: " in done.log
    assert entries(cache) == []


def test_name_of_the_folder_for_temporary_files_that_is_not_utf8_costs_only_the_archive(
    start: Processes, cache: Path, tmp_path: Path
) -> None:
    """Foundation makes no string of such a name, and ends the process if it is to make a URL of none."""
    folder = tmp_path / os.fsdecode(b"temporary \xff")
    folder.mkdir()
    done = start(KERNELS, TMPDIR=str(folder), FERRULE_LOG="debug")
    assert done.output == "True\n"
    assert "metal: the archive of pipelines cannot be written: the name of the folder" in done.log
    assert list(folder.iterdir()) == entries(cache) == []


def test_full_disk_leaves_nothing_behind(pipelines: Callable[..., Counter[str]], start: Processes, cache: Path) -> None:
    pipelines(FERRULE_METAL_ARCHIVE_BYTES="0")  # the emulator's compiler may write more than the limit
    limit = "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n"
    done = start(limit + KERNELS, FERRULE_LOG="debug")
    assert done.output == "True\n"
    assert "metal: the archive of pipelines cannot be written: " in done.log
    assert list(cache.glob("module_*")) == list(cache.glob("*.unfinished")) == []
    pipelines()
    assert pipelines()["archived"] == 0


def test_processes_at_once_are_right_and_leave_a_whole_archive(
    pipelines: Callable[..., Counter[str]], start: Processes, cache: Path
) -> None:
    programs = [KERNELS, OTHER_KERNELS] * 3
    with ThreadPoolExecutor(len(programs)) as pool:
        for done in pool.map(start, programs):
            assert (done.output, done.log) == ("True\n", "")
    assert len(entries(cache)) == 1
    # The last one that wrote may not have seen what others have added.
    for program in (KERNELS, OTHER_KERNELS):
        pipelines(program)
    for program in (KERNELS, OTHER_KERNELS):
        assert set(pipelines(program)) == {"of an archive"}


@pytest.mark.parametrize("number", ["1", "2", "*"])
@pytest.mark.parametrize(
    "selector",
    [
        "newBinaryArchiveWithDescriptor:error:",
        "addComputePipelineFunctionsWithDescriptor:error:",
        "serializeToURL:error:",
    ],
)
def test_failing_calls_cost_only_the_archive(
    selector: str, number: str, pipelines: Callable[..., Counter[str]]
) -> None:
    fault = {"FERRULE_EMULATION_METAL_CALL_FAILS": f"{selector}:{number}"}
    first = pipelines(**fault)
    made = first["of an archive"] + first["compiled"]
    assert made > 1
    second = pipelines(**fault)
    assert second["of an archive"] + second["compiled"] == made
    pipelines()
    assert pipelines() == {"of an archive": made}


def test_without_an_archive_none_is_made(pipelines: Callable[..., Counter[str]], cache: Path, tmp_path: Path) -> None:
    assert set(pipelines(FERRULE_METAL_ARCHIVE_BYTES="0")) == {"compiled"}
    assert "MTLBinaryArchive" not in (tmp_path / "log0").read_text()
    assert entries(cache) == []


def test_archive_beyond_its_bound_begins_anew_and_the_file_is_kept(
    pipelines: Callable[..., Counter[str]], cache: Path
) -> None:
    first = pipelines()
    [entry] = entries(cache)
    kept = entry.read_bytes()
    size = len(key_and_text(kept)[1])
    assert pipelines(OTHER_KERNELS, FERRULE_METAL_ARCHIVE_BYTES=str(size))["archived"] > 0
    assert entry.read_bytes() == kept
    assert pipelines(FERRULE_METAL_ARCHIVE_BYTES=str(size)) == {"of an archive": first["of an archive"]}


def test_device_that_compiles_nothing_opens_no_archive(run: Run, tmp_path: Path) -> None:
    log = tmp_path / "log"
    assert run('print(fe.memory_stats("metal:0").live)', FERRULE_EMULATION_METAL_LOG=str(log)) == "0\n"
    assert "Archive" not in log.read_text()
