"""Differences between two interfaces are listed declaration by declaration, and breaking changes are told apart from
compatible ones."""

from __future__ import annotations

from pathlib import Path

import pytest
from ferrule import _ferrule
from ferrule.tools import abi_diff as interfaces
from ferrule.tools.abi_diff import Difference, abi_diff, is_compatible, read_interface
from ferrule.tools.inspection.abi_version import AbiVersion, complaint, parse
from foreign_files import build_universal

OLD = """\
#define FE_ABI_MAJOR 1
#define FE_ABI_MINOR 0
#define FE_LAYOUT_HASHES UINT64_C(0x07)
#define FE_HOST_SLOTS(S)                                       \\
  S(void, log, (fe_log_level level, const char *message))      \\
  /* a comment, (a, b) */                                      \\
  S(void *, get_proc, (const char *name))
typedef struct fe_host {
  size_t struct_size;
  FE_HOST_SLOTS(FE_SLOT)
} fe_host;
typedef union fe_scalar {
  double f64;
} fe_scalar;
typedef struct fe_gelu_attributes {
  size_t struct_size;
  const char *approximate;
} fe_gelu_attributes;
typedef enum fe_code FE_ANY_INT {
  FE_OK = 0,
  FE_IO,
  FE_CODE_COUNT
} fe_code;
typedef fe_error *(*fe_poll_function)(void *argument);
FE_API fe_error *fe_load(const char *path, fe_backend_ref **out);
"""
OPS = """\
inline constexpr OpInfo op_table[] = {
    {"gelu", 1, OpKind::elementwise, 1, false, gelu_inputs, gelu_results, gelu_attributes},
    {"sqrt", 1, OpKind::elementwise, 1, false, sqrt_inputs, sqrt_results, {}},
};
"""
COMMENT = "  /* a comment, (a, b) */                                      \\\n"
GET_PROC = "  S(void *, get_proc, (const char *name))"
LOG = "  S(void, log, (fe_log_level level, const char *message))      \\\n"

# The text of a header, the text that replaces it, and the sentence about the change.
CHANGES = [
    ("(const char *name)", "(int name)", "slot 'get_proc' was 'void *(const char *name)' and is 'void *(int name)'"),
    (LOG, "", "fe_host: slot 'log' is gone (incompatible)"),
    (LOG, LOG + "  S(int, new, (void)) \\\n", "fe_host: 'new' inserted (incompatible)"),
    (GET_PROC, GET_PROC + " FE_SINCE(1) S(int, new, (void))", "fe_host: 'new' appended (compatible)"),
    (LOG + COMMENT + GET_PROC, GET_PROC + " \\\n" + LOG, "fe_host: its slots are in another order (incompatible)"),
    ("double f64;", "double f64; int64_t i64;", "fe_scalar: 'i64' added to a struct that cannot grow (incompatible)"),
    ("*approximate;", "*approximate; int64_t axis;", "fe_gelu_attributes: 'axis' appended (compatible)"),
    ("FE_IO,", "FE_IO = 2,", "fe_code: 'FE_IO' was 1 and is 2 (incompatible)"),
    ("  FE_IO,\n", "", "fe_code: 'FE_IO' is gone (incompatible)"),
    ("FE_IO,", "FE_IO, FE_NEW,", "fe_code: 'FE_NEW' = 2 added (compatible)"),
    ("(void *argument)", "(int argument)", "fe_poll_function: was 'fe_error *(void *argument)' and is"),
    ("fe_load(", "fe_load_it(", "fe_load: is gone (incompatible)"),
    ("FE_API", "FE_API int fe_new(void);\nFE_API", "fe_new: is new (compatible)"),
    ('    {"sqrt", 1', '    {"square", 1', "op sqrt: is gone (incompatible)"),
    ('    {"sqrt", 1', '    {"square", 1', "op square: is new (compatible)"),
    ('{"sqrt", 1', '{"sqrt", 0', "op sqrt: its revision fell from 1 to 0 (incompatible)"),
    ("0x07", "0x08", "interface: is 1.0 in both, but 0 is the lower minor, and its layout"),
    ("MAJOR 1", "MAJOR 2", "interface: 1.0 became 2.0, but the majors differ (incompatible)"),
    (
        "MINOR 0\n#define FE_LAYOUT_HASHES UINT64_C(0x07)",
        "MINOR 1\n#define FE_LAYOUT_HASHES UINT64_C(0x07), UINT64_C(0x08)",
        "interface: 1.0 became 1.1 (compatible)",
    ),
]  # fmt: skip


def include_folder() -> Path:
    """The headers of the installed package."""
    return Path(_ferrule.__file__ or "").parent / "include"


def installed_modules() -> list[Path]:
    return sorted(include_folder().parent.rglob("libferrule-*.so"))


def put(folder: Path, *changes: tuple[str, str]) -> Path:
    """Writes headers in which the changes are made."""
    texts = {"ferrule.h": OLD, "op_table.hpp": OPS}
    for old, new in changes:
        [name] = [name for name, text in texts.items() if old in text]
        texts[name] = texts[name].replace(old, new)
    (folder / "ferrule").mkdir(parents=True)
    for name, text in texts.items():
        (folder / "ferrule" / name).write_text(text, encoding="utf-8")
    return folder


def test_equal_interfaces_have_no_differences(tmp_path: Path) -> None:
    assert abi_diff(put(tmp_path / "a"), put(tmp_path / "b", ("(const char *name)", "(const  char * name)"))) == []
    assert abi_diff(include_folder(), include_folder()) == []


@pytest.mark.parametrize(("old", "new", "sentence"), CHANGES, ids=[change[2].split(" (")[0] for change in CHANGES])
def test_each_change_is_one_sentence(tmp_path: Path, old: str, new: str, sentence: str) -> None:
    found = [str(difference) for difference in abi_diff(put(tmp_path / "a"), put(tmp_path / "b", (old, new)))]
    assert any(sentence in one for one in found), found


def test_breaking_changes_are_listed_first(tmp_path: Path) -> None:
    found = abi_diff(put(tmp_path / "a"), put(tmp_path / "b", ('{"sqrt"', '{"square"')))
    assert [str(difference) for difference in found] == [
        "op sqrt: is gone (incompatible)",
        "op square: is new (compatible)",
    ]
    assert is_compatible([Difference("a", "b", is_compatible=True)])
    assert not is_compatible(found)


def test_the_declarations_of_the_installed_headers_are_read() -> None:
    found = read_interface(include_folder())
    assert list(found.structs["fe_backend"])[:3] == ["struct_size", "self", "name"]
    assert list(found.structs["fe_backend"])[-1] == "get_proc"
    assert found.structs["fe_softmax_attributes"] == {"struct_size": "size_t", "axis": "int64_t"}
    assert found.values["fe_code"]["FE_UNSUPPORTED"] == 2
    assert found.functions["fe_load_all"] == "fe_error *(const fe_load_options *options, fe_load_report **report)"
    assert found.revisions["sqrt"] == 1


def test_modules_are_compared_by_version_and_symbols(tmp_path: Path) -> None:
    modules = installed_modules()
    assert len(modules) > 1
    assert abi_diff(modules[0], modules[1]) == []
    assert abi_diff(modules[0], include_folder()) == []
    symbols = frozenset({"ferrule_backend_abi", "ferrule_backend_init", "ferrule_backend_score"})
    assert read_interface(modules[0]).symbols == symbols
    [difference] = abi_diff(put(tmp_path / "a"), modules[0])
    assert str(difference).endswith("but the majors differ (incompatible)")


def test_architectures_of_one_file_with_different_interfaces_are_an_error(tmp_path: Path) -> None:
    module = build_universal(tmp_path, include_folder())
    data = module.read_bytes()
    at = data.rindex((0x00656C7572726566).to_bytes(8, "little"))  # ferrule_backend_abi of the last architecture
    module.write_bytes(data[: at + 12] + (9).to_bytes(4, "little") + data[at + 16 :])  # its major
    with pytest.raises(ValueError, match="has several architectures, and their interfaces differ"):
        read_interface(module)


def test_what_is_no_interface_is_an_error_and_no_crash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = installed_modules()[0].read_bytes()
    (tmp_path / "cut.so").write_bytes(whole[:32])
    with pytest.raises(ValueError, match="is not a module: it"):
        read_interface(tmp_path / "cut.so")
    (tmp_path / "without.so").write_bytes(whole.replace(b"ferrule_backend_abi", b"ferrule_another_abi"))
    with pytest.raises(ValueError, match="has no ferrule_backend_abi that can be read"):
        read_interface(tmp_path / "without.so")
    with pytest.raises(ValueError, match="cannot be read"):
        read_interface(tmp_path / "absent")
    with pytest.raises(ValueError, match="is not a folder of headers"):
        read_interface(tmp_path)
    monkeypatch.setattr(interfaces, "find_spec", lambda name: None)
    with pytest.raises(ValueError, match=r"install lief: pip install 'ferrule\[inspect\]'"):
        read_interface(installed_modules()[0])
    assert read_interface(include_folder()).structs


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
