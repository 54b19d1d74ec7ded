"""Modules that report wrong data to the core: ABI data, tables, device properties and errors."""

from __future__ import annotations

from typing import Any

from hostile_modules.hostile_module import HostileModule
from hostile_modules.load_runner import LoadResult

SYMBOL = "ferrule_backend_abi"
GOOD = f"EXPORT const fe_abi {SYMBOL} = HOSTILE_GOOD;"
# Misaligned by one byte, in data that is long enough.
MISALIGNED = (
    "static __attribute__((used, aligned(8))) const struct __attribute__((packed)) { char first; fe_abi abi; char "
    f'rest[1000]; }} hostile_shifted = {{0, HOSTILE_GOOD, {{0}}}}; __asm__(".globl {SYMBOL}; .type {SYMBOL}, @object; '
    f'.size {SYMBOL}, 1000; .set {SYMBOL}, hostile_shifted + 1");'
)


def abi(name: str, state: str, reason: str, declaration: str, *defines: str, runs: bool = False) -> HostileModule:
    """A module none of whose code may run, because the fault is visible in the file."""
    defined = (f"HOSTILE_ABI={declaration}", *defines)
    return HostileModule(name, state, reason, source="abi.c", defines=defined, runs=runs)


def table(name: str, state: str, reason: str, *defines: str) -> HostileModule:
    return HostileModule(name, state, reason, source="tables.c", defines=defines)


def spoiled(field: str, value: str) -> str:
    return f"HOSTILE_SPOIL(table)=(table)->{field}={value}"


def is_bounded(result: LoadResult, row: dict[str, Any]) -> None:
    assert len(str(result.reported["report"])) < 100_000, "no report grows with what a module says"


ABI = [
    abi("abi_of_8_bytes", "error", "constant data|ends after 8", f"EXPORT const uint64_t {SYMBOL} = FE_ABI_MAGIC;"),
    abi(
        "abi_of_no_bytes",
        "error",
        "not a multiple of 8|ends after 0 bytes",
        f"EXPORT __attribute__((aligned(8))) const char {SYMBOL}[0];",
    ),
    abi("abi_not_in_the_file", "error", "constant data", f"EXPORT fe_abi {SYMBOL};"),
    abi(
        "abi_is_code",
        "incompatible|error",
        "magic",
        f"EXPORT __attribute__((aligned(16))) void {SYMBOL}(void) {{ {'getpid();' * 20} }}",
    ),
    abi("abi_misaligned", "error", "not a multiple of 8", MISALIGNED),
    abi(
        "abi_huge",
        "loaded",
        "",
        f"EXPORT const struct {{ fe_abi abi; char rest[64 << 20]; }} {SYMBOL} = {{ HOSTILE_GOOD, {{1}} }};",
        runs=True,
    ),
    abi(
        "abi_changes_when_opened",
        "incompatible",
        "interface 7",
        GOOD.replace("const ", ""),
        "HOSTILE_CHANGES_ABI",
        runs=True,
    ),
]

TABLES = [
    table("table_of_no_bytes", "error", "table to 0 bytes", spoiled("struct_size", "0")),
    table("table_of_half", "error", "no function", spoiled("struct_size", "sizeof(fe_backend) / 2")),
    table("table_larger_than_ours", "loaded", "", spoiled("struct_size", "~(size_t)0")),
    table("table_without_compile", "error", "no function 'compile'", spoiled("compile", "NULL")),
    table("table_of_another_name", "error", "calls it 'cpu'", spoiled("name", '"cpu"')),
    table("table_without_name", "error", "calls it ''", spoiled("name", "NULL")),
    table("wild_functions", "probe_failed", "ended by SIG", spoiled("device_count", "(void *)16")),
    table("endless_name", "probe_failed", "ended by SIGSEGV .*'init'", spoiled("name", "endless()")),
    table("endless_version", "probe_failed", "ended by SIGSEGV .*'init'", spoiled("version", "endless()")),
    table("endless_device_name", "probe_failed", "ended by SIGSEGV .*'enumerate'", "HOSTILE_DEVICE_NAME=endless()"),
    HostileModule(
        "long_device_name",
        "loaded",
        "",
        source="tables.c",
        defines=("HOSTILE_DEVICE_NAME=long_string()",),
        check=is_bounded,
    ),
    HostileModule(
        "long_error",
        "error",
        "aaaa",
        source="tables.c",
        defines=("HOSTILE_ERROR=long_string()", "HOSTILE_ERROR_CODE=FE_INTERNAL"),
        check=is_bounded,
    ),
    table("device_name_not_utf8", "loaded", "", 'HOSTILE_DEVICE_NAME="\\xff\\xfe\\x80"'),
    table(
        "error_not_utf8",
        "error",
        "hostile module: ",
        'HOSTILE_ERROR="hostile module: the bytes \\xff\\xfe and \\x1b[31m"',
        "HOSTILE_ERROR_CODE=FE_IO",
    ),
    table(
        "error_of_unknown_code",
        "error",
        "hostile module: an error of its own kind",
        'HOSTILE_ERROR="hostile module: an error of its own kind"',
        "HOSTILE_ERROR_CODE=(fe_code)-77",
    ),
    table("forged_error", "probe_failed", "ended by SIGSEGV .*'init'", "HOSTILE_FORGED_ERROR=16"),
    table("devices_2_to_the_32", "error", "4294967295 devices", "HOSTILE_DEVICE_COUNT=UINT32_MAX"),
    table(
        "properties_of_huge_size",
        "loaded",
        "",
        "HOSTILE_SPOIL_PROPERTIES(properties)=(properties)->struct_size=~(size_t)0",
    ),
    table(
        "device_of_unknown_kind",
        "error",
        "kind",
        "HOSTILE_SPOIL_PROPERTIES(properties)=(properties)->kind=4000000000u",
    ),
    table(
        "wild_uuid",
        "probe_failed",
        "ended by SIGSEGV .*'enumerate'",
        "HOSTILE_SPOIL_PROPERTIES(properties)=(properties)->uuid=(void *)16",
    ),
]

HOSTILE_MODULES = ABI + TABLES
