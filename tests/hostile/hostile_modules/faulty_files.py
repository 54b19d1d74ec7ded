"""Faulty files: manifests, and other things in place of a module."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from typing import Any

from hostile_modules.hostile_module import HostileModule, Place, compile_module
from hostile_modules.load_runner import LoadResult

NESTED = 100_000


def with_manifest(name: str, state: str, reason: str, content: str | bytes) -> HostileModule:
    def put(place: Place) -> None:
        place.put_module()
        place.write_manifest(content)

    return HostileModule(name, state, reason, put=put, runs=False)


def lying(hostile: str, state: str, reason: str, /, **changes: object) -> HostileModule:
    def put(place: Place) -> None:
        place.put_module()
        place.put_manifest(**changes)

    return HostileModule(hostile, state, reason, put=put, runs=False)


def in_place(name: str, reason: str, put: Callable[[Place], object], state: str = "error") -> HostileModule:
    return HostileModule(name, state, reason, put=lambda place: (put(place), None)[1], runs=False)


def put_sparse_manifest(place: Place) -> None:
    place.put_module()
    place.put_manifest()
    os.truncate(place.module.with_suffix(".json"), 100 << 20)


def put_full_manifest(place: Place) -> None:
    """Valid JSON just below the size limit."""
    place.put_module()
    place.put_manifest(ops=["add"] * 120_000)


def put_manifest_that_is(make: Callable[[str], object]) -> Callable[[Place], None]:
    def put(place: Place) -> None:
        place.put_module()
        make(str(place.module.with_suffix(".json")))

    return put


def put_nested(key: str) -> Callable[[Place], None]:
    def put(place: Place) -> None:
        place.put_module()
        place.put_manifest(**{key: None})
        path = place.module.with_suffix(".json")
        nested = "[" * NESTED + "]" * NESTED
        path.write_text(path.read_text().rstrip("}") + f', "{key}": {nested}}}')

    return put


def put_repeated(place: Place) -> None:
    place.put_module()
    place.put_manifest()
    path = place.module.with_suffix(".json")
    path.write_text(path.read_text().rstrip("}") + f', "name": "{place.hostile.name}", "rank": 9}}')


def put_looping_link(place: Place) -> None:
    other = place.folder / "libferrule-round.so"
    place.module.symlink_to(other)
    other.symlink_to(place.module)


def put_cut(place: Place) -> None:
    place.put_module()
    os.truncate(place.module, place.module.stat().st_size // 2)


def put_two_cases(place: Place) -> None:
    place.put_module()
    shutil.copy(place.module, place.folder / "libferrule-TWIN.so")


def refuses_the_other_case(result: LoadResult, row: dict[str, Any]) -> None:
    other = result.row("libferrule-TWIN.so")
    assert (other["state"], other["devices"]) == ("error", [])
    assert "a backend's name consists of a-z, 0-9 and _" in other["reason"]


def put_same_name_twice(place: Place) -> None:
    """The same module with and without the prefix lib: two files with one name and one rank."""
    place.put_module()
    shutil.copy(place.module, place.folder / "ferrule-same_name.so")


def loads_one_of_two(result: LoadResult, row: dict[str, Any]) -> None:
    states = sorted((row["state"], result.row("ferrule-same_name.so")["state"]))
    assert states == ["loaded", "outranked"]


def put_where_names_are_not_utf8(place: Place) -> None:
    place.put_module()
    compile_module(HostileModule("bytes", "error"), place.folder / "made")
    os.rename(place.folder / "made", os.path.join(os.fsencode(place.folder), b"libferrule-\xff\xfe.so"))


MANIFESTS = [
    HostileModule("manifest_of_100_mb", "error", "larger than a megabyte", put=put_sparse_manifest, runs=False),
    HostileModule("manifest_of_many_ops", "loaded", put=put_full_manifest),
    with_manifest("manifest_nested", "error", "manifest", "[" * 500_000),
    with_manifest("manifest_nested_objects", "error", "manifest", '{"a":' * 100_000),
    HostileModule("manifest_nested_size", "error", "nest", put=put_nested("size"), runs=False),
    HostileModule("manifest_nested_unknown", "error", "nest|deep", put=put_nested("unknown"), runs=False),
    HostileModule("manifest_with_a_key_twice", "error", "twice", put=put_repeated, runs=False),
    with_manifest("manifest_not_utf8", "error", "UTF-8", b'{"name": "\xff\xfe\x80"}'),
    with_manifest("manifest_of_zeros", "error", "not JSON", bytes(1000)),
    with_manifest("manifest_broken", "error", "not JSON", '{"name": "manifest_broken", "abi": {"major": 0,'),
    with_manifest("manifest_empty", "error", "not JSON", ""),
    lying("manifest_of_another_name", "error", "it is about 'cuda'", name="cuda"),
    lying("manifest_of_another_hash", "error", "SHA-256", sha256="0" * 64),
    lying("manifest_of_another_size", "error", "its manifest says 7", size=7),
    lying(
        "manifest_of_another_abi", "error", "another interface", abi={"major": 0, "minor": 9, "layout_hashes": ["0x1"]}
    ),
    lying("manifest_of_huge_numbers", "error", "'rank'", rank=10**30),
    lying("manifest_of_huge_floats", "error", "'size'", size=1e300),
    lying("manifest_without_hash", "error", "'sha256' is missing", sha256=None),
    lying(
        "manifest_with_a_missing_driver", "incompatible", "libhostile_driver.so.9", driver=["libhostile_driver.so.9"]
    ),
    lying("manifest_with_a_driver_path", "incompatible|error", "driver|hostile", driver=["../../../../tmp/hostile"]),
    lying("manifest_with_unknown_features", "incompatible", "this CPU has no", cpu_features=["warp_drive"]),
    HostileModule("manifest_is_a_fifo", "error", "not a regular file", put=put_manifest_that_is(os.mkfifo), runs=False),
    HostileModule(
        "manifest_is_a_folder", "error", "not a regular file", put=put_manifest_that_is(os.mkdir), runs=False
    ),
    HostileModule(
        "manifest_is_a_device",
        "unsafe",
        "/dev/zero can be written by everybody",
        put=put_manifest_that_is(lambda path: os.symlink("/dev/zero", path)),
        runs=False,
    ),
]

PLACES = [
    in_place("fifo", "not a regular file", lambda place: os.mkfifo(place.module)),
    in_place("folder", "not a regular file", lambda place: place.module.mkdir()),
    in_place("device", "not a regular file", lambda place: place.module.symlink_to("/dev/zero")),
    in_place("dangling_link", "does not exist", lambda place: place.module.symlink_to("nowhere")),
    in_place("looping_link", "link|no such file", put_looping_link),
    HostileModule("empty_file", "error", "empty", put=lambda place: place.module.touch(), runs=False),
    HostileModule(
        "script", "error", "text file", put=lambda place: (place.module.write_text("#!/bin/sh\n"), None)[1], runs=False
    ),
    HostileModule("cut_file", "error", "truncated", put=put_cut, runs=False),
    HostileModule("twin", "loaded", put=put_two_cases, check=refuses_the_other_case),
    HostileModule("same_name", "loaded|outranked", put=put_same_name_twice, check=loads_one_of_two),
    HostileModule("beside_bytes", "loaded", put=put_where_names_are_not_utf8),
]

HOSTILE_MODULES = MANIFESTS + PLACES
