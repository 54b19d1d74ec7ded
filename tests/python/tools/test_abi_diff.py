"""Differences between two interfaces are listed slot by slot, and breaking changes are told apart from compatible
ones."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from ferrule import _ferrule
from ferrule.tools import abi_diff as interfaces
from ferrule.tools.abi_diff import SNAPSHOT, Difference, abi_diff, is_compatible, read_interface
from ferrule.tools.inspection.abi_version import AbiVersion, complaint, parse
from foreign_files import build_dll, build_dylib, build_universal


def include_folder() -> Path:
    """The headers of the installed package."""
    return Path(_ferrule.__file__ or "").parent / "include"


OLD = """\
// a comment
FE_ABI(1, 0)
FE_HASH(0, 0x07)
FE_SIZE(fe_host, 24)
FE_SLOT(fe_host, log, 8, "void (fe_log_level level, const char *message)")
FE_SLOT(fe_host, get_proc, 16, "void * (const char *name)")
FE_SIZE(fe_scalar, 16)
FE_SLOT(fe_scalar, f64, 0, "double")
FE_VALUE(fe_code, FE_OK, 0)
FE_VALUE(fe_code, FE_IO, 1)
FE_VALUE(fe_code, FE_CODE_COUNT, 2)
FE_POINTER(fe_poll_function, fe_error *, (void *argument))
FE_FUNCTION(fe_load, fe_error *, (const char *path, fe_backend_ref **out))
FE_OP(gelu, 1)
FE_ATTRIBUTE(gelu, approximate, 8, "str", 1)
FE_OP(sqrt, 1)
"""


def put(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return path


def sentences(folder: Path, *changes: tuple[str, str]) -> list[str]:
    new = OLD
    for old_line, new_line in changes:
        assert old_line in new
        new = new.replace(old_line, new_line)
    return [str(found) for found in abi_diff(put(folder, "a.inc", OLD), put(folder, "b.inc", new))]


def test_equal_interfaces_have_no_differences(tmp_path: Path) -> None:
    assert sentences(tmp_path) == []
    snapshot = include_folder() / SNAPSHOT
    assert abi_diff(snapshot, include_folder()) == []


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (("get_proc, 16", "get_proc, 24"), "fe_host: slot 'get_proc' moved from 16 to 24 (incompatible)"),
        (
            ("(const char *name)", "(int name)"),
            "fe_host: slot 'get_proc' was 'void *(const char *name)' and is 'void *(int name)' (incompatible)",
        ),
        (('FE_SLOT(fe_host, get_proc, 16, "void * (const char *name)")\n', ""), "fe_host: slot 'get_proc' is gone"),
        (
            ("FE_SIZE(fe_scalar", 'FE_SLOT(fe_host, new, 24, "int")\nFE_SIZE(fe_scalar'),
            "fe_host: 'new' appended (compatible)",
        ),
        (
            ("FE_SIZE(fe_scalar", 'FE_SLOT(fe_host, new, 12, "int")\nFE_SIZE(fe_scalar'),
            "fe_host: 'new' inserted at 12 (incomp",
        ),
        (
            ("FE_VALUE(fe_code, FE_OK", 'FE_SLOT(fe_scalar, big, 8, "int")\nFE_VALUE(fe_code, FE_OK'),
            "cannot grow, at 8 (incomp",
        ),
        (("FE_IO, 1)", "FE_IO, 2)"), "fe_code: 'FE_IO' was 1 and is 2 (incompatible)"),
        (("FE_VALUE(fe_code, FE_IO, 1)\n", ""), "fe_code: 'FE_IO' is gone (incompatible)"),
        (
            ("FE_CODE_COUNT, 2)", "FE_NEW, 2)\nFE_VALUE(fe_code, FE_CODE_COUNT, 3)"),
            "fe_code: 'FE_NEW' = 2 added (compatible)",
        ),
        (("(void *argument)", "(int argument)"), "fe_poll_function: was 'fe_error *(void *argument)' and is"),
        (("FE_FUNCTION(fe_load,", "FE_FUNCTION(fe_load_it,"), "fe_load: is gone (incompatible)"),
        (("FE_OP(gelu", "FE_FUNCTION(fe_new, int, (void))\nFE_OP(gelu"), "fe_new: is new (compatible)"),
        (("FE_OP(sqrt, 1)\n", ""), "op sqrt: is gone (incompatible)"),
        (("FE_OP(sqrt, 1)\n", "FE_OP(sqrt, 1)\nFE_OP(square, 1)\n"), "op square: is new (compatible)"),
        (
            ("FE_OP(sqrt, 1)", 'FE_OP(sqrt, 2)\nFE_ATTRIBUTE(sqrt, scale, 8, "float", 2)'),
            "op sqrt: 'scale' appended (compatible)",
        ),
        (
            ("FE_OP(sqrt, 1)", 'FE_OP(sqrt, 1)\nFE_ATTRIBUTE(sqrt, scale, 8, "float", 1)'),
            "op sqrt: attribute 'scale' is new and claims revision 1 (incompatible)",
        ),
        (("approximate, 8", "approximate, 16"), "op gelu: attribute 'approximate' moved from 8 to 16 (incompatible)"),
        (
            ("FE_HASH(0, 0x07)", "FE_HASH(0, 0x08)"),
            "interface: is 1.0 in both, but 0 is the lower minor, and its layout",
        ),
        (("FE_ABI(1, 0)", "FE_ABI(2, 0)"), "interface: 1.0 became 2.0, but the majors differ (incompatible)"),
        (
            ("FE_ABI(1, 0)\nFE_HASH(0, 0x07)", "FE_ABI(1, 1)\nFE_HASH(0, 0x07)\nFE_HASH(1, 0x08)"),
            "interface: 1.0 became 1.1 (compatible)",
        ),
    ],
    ids=lambda value: value.split(" (")[0] if isinstance(value, str) else "",
)
def test_each_change_is_one_sentence(tmp_path: Path, change: tuple[str, str], sentence: str) -> None:
    assert any(sentence in found for found in sentences(tmp_path, change)), sentences(tmp_path, change)


def test_whitespace_is_no_change(tmp_path: Path) -> None:
    assert sentences(tmp_path, ("void * (const char *name)", "void *(const  char * name)")) == []


def test_breaking_changes_are_listed_first(tmp_path: Path) -> None:
    found = sentences(tmp_path, ("FE_OP(sqrt, 1)\n", "FE_OP(square, 1)\n"))
    assert found == ["op sqrt: is gone (incompatible)", "op square: is new (compatible)"]
    assert is_compatible([Difference("a", "b", is_compatible=True)])
    assert not is_compatible([Difference("a", "b", is_compatible=True), Difference("a", "c", is_compatible=False)])


def test_modules_are_compared_by_version_and_symbols() -> None:
    modules = sorted(include_folder().parent.rglob("libferrule-*.so"))
    assert len(modules) > 1
    assert abi_diff(modules[0], modules[1]) == []
    assert abi_diff(modules[0], include_folder()) == []
    assert read_interface(modules[0]).symbols == {
        "ferrule_backend_abi",
        "ferrule_backend_init",
        "ferrule_backend_score",
    }


@pytest.mark.parametrize(
    "build",
    [
        build_dll,
        lambda folder, include: build_dylib(folder, include, "arm64"),
        build_universal,
    ],
    ids=["PE", "Mach-O", "universal"],
)
def test_modules_of_other_systems_are_compared_too(build: Callable[[Path, Path], Path], tmp_path: Path) -> None:
    own = next(include_folder().parent.rglob("libferrule-cpu-x64.so"))
    module = build(tmp_path, include_folder())
    assert abi_diff(own, module) == []
    assert read_interface(module) == read_interface(own)


def test_architectures_of_one_file_with_different_interfaces_are_an_error(tmp_path: Path) -> None:
    module = build_universal(tmp_path, include_folder())
    data = module.read_bytes()
    at = data.rindex((0x00656C7572726566).to_bytes(8, "little"))  # ferrule_backend_abi of the last architecture
    module.write_bytes(data[: at + 12] + (9).to_bytes(4, "little") + data[at + 16 :])  # its major
    with pytest.raises(ValueError, match="has several architectures, and their interfaces differ"):
        read_interface(module)


def test_a_damaged_module_is_an_error_and_no_crash(tmp_path: Path) -> None:
    whole = next(include_folder().parent.rglob("libferrule-cpu-x64.so")).read_bytes()
    (tmp_path / "cut.so").write_bytes(whole[:32])
    with pytest.raises(ValueError, match="is not a module: it"):
        read_interface(tmp_path / "cut.so")
    (tmp_path / "without.so").write_bytes(whole.replace(b"ferrule_backend_abi", b"ferrule_another_abi"))
    with pytest.raises(ValueError, match="has no ferrule_backend_abi that can be read"):
        read_interface(tmp_path / "without.so")


def test_without_lief_a_module_cannot_be_read_and_a_snapshot_can(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interfaces, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"install lief: pip install 'ferrule\[inspect\]'"):
        read_interface(next(include_folder().parent.rglob("libferrule-cpu-x64.so")))
    assert read_interface(include_folder()).structs


def test_module_of_another_interface_is_reported(tmp_path: Path) -> None:
    module = sorted(include_folder().parent.rglob("libferrule-*.so"))[0]
    [difference] = abi_diff(put(tmp_path, "a.inc", OLD), module)
    assert str(difference).endswith("but the majors differ (incompatible)")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "names no version"),
        ("FE_ABI(1, 0)\n", "names no version, or no layout hash"),
        (OLD + "FE_SLOT(fe_host, log)\n", "line 17 is none of a snapshot"),
        (OLD + "hello\n", "line 17 is none of a snapshot: 'hello'"),
        (OLD + "FE_OTHER(1)\n", "line 17 is none of a snapshot"),
    ],
)
def test_file_that_is_no_snapshot_is_reported(tmp_path: Path, text: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        read_interface(put(tmp_path, "a.inc", text))


def test_file_without_interface_is_reported(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be read"):
        read_interface(tmp_path / "absent.inc")
    with pytest.raises(ValueError, match=r"a folder of headers holds ferrule/abi_snapshot\.inc"):
        read_interface(tmp_path)
    (tmp_path / "binary").write_bytes(b"\xff\xfe\xfd\xfc")
    with pytest.raises(ValueError, match="neither a module nor a snapshot"):
        read_interface(tmp_path / "binary")


# ---- the rules, as csrc/core/registry/abi_compatibility.cpp has them


@pytest.mark.parametrize(
    ("module", "core", "fits"),
    [
        (AbiVersion(0, 1, (7,)), AbiVersion(0, 1, (7,)), True),
        (AbiVersion(0, 1, (8,)), AbiVersion(0, 1, (7,)), False),
        (AbiVersion(1, 0, (7,)), AbiVersion(0, 1, (7,)), False),
        (AbiVersion(1, 0, (7,)), AbiVersion(1, 1, (7, 8)), True),
        (AbiVersion(1, 1, (7, 8)), AbiVersion(1, 0, (7,)), True),
        (AbiVersion(1, 1, (6, 8)), AbiVersion(1, 0, (7,)), False),
        (AbiVersion(1, 2, (7, 8, 9)), AbiVersion(1, 1, (6, 8)), True),
        (AbiVersion(1, 70, (7, 8)), AbiVersion(1, 3, (1, 2, 3, 4)), False),
    ],
)
def test_compatibility_of_modules_and_cores(module: AbiVersion, core: AbiVersion, fits: bool) -> None:
    assert (complaint(module, core) == "") == fits


def abi_bytes(magic: int = 0x00656C7572726566, size: int = 40, minor: int = 1, count: int = 2) -> bytes:
    numbers = [size, 1, minor, count]
    hashes = [7, 8]
    return (
        magic.to_bytes(8, "little")
        + b"".join(n.to_bytes(4, "little") for n in numbers)
        + b"".join(n.to_bytes(8, "little") for n in hashes)
    )


def test_fe_abi_is_read_whole() -> None:
    assert parse(abi_bytes()) == AbiVersion(1, 1, (7, 8))
    assert parse(abi_bytes(count=1)) == AbiVersion(1, 1, (7,))
    assert parse(abi_bytes(size=48) + bytes(8)) == AbiVersion(1, 1, (7, 8))


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "ends after 0 bytes"),
        (abi_bytes(magic=1), "not with the magic"),
        (abi_bytes(size=0), "struct_size of 0"),
        (abi_bytes(count=0), "lists 0 layout hashes"),
        (abi_bytes(count=3), "lists 3 layout hashes, and must list 1 to 2"),
        (abi_bytes(minor=2**32 - 1, count=2**32 - 1), "must list 1 to 64"),
        (abi_bytes()[:-1], "ends after 39 bytes"),
    ],
)
def test_damaged_data_gives_a_reason(data: bytes, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        parse(data)
