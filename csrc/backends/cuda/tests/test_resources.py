"""What ptxas and cuobjdump say about the kernels (toolchain/resources.py), and the page that lists it.

FERRULE_REQUIRE_FAT_BINARIES=1 makes a test fail that would be skipped because no kernels are compiled by nvcc.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import NoReturn

import pytest

from csrc.backends.cuda.toolchain import kernel_page, machine_code, resources
from csrc.backends.cuda.toolchain.kernel_families import PATHS, Family, families
from csrc.backends.cuda.toolchain.occupancy import occupancy, resident_blocks
from csrc.backends.cuda.toolchain.resource_usage import Kernel, block_sizes, faults, kernels_in, read

ROOT = Path(__file__).resolve().parents[4]
BACKEND = ROOT / "csrc" / "backends" / "cuda"

TEXT = """\
ptxas info    : 0 bytes gmem, 24 bytes cmem[3]
ptxas info    : Compiling entry function 'sum_f32' for 'sm_80'
ptxas info    : Function properties for sum_f32
    16 bytes stack frame, 8 bytes spill stores, 12 bytes spill loads
ptxas info    : Used 40 registers, used 1 barriers, 56 bytes cumulative stack size, 1024 bytes smem, 372 bytes cmem[0]
ptxas info    : Compile time = 13.125 ms
ptxas info    : Function properties for _ZN7ferrule4fmodIdEET_S3_S3_
    40 bytes stack frame, 4 bytes spill stores, 0 bytes spill loads
ptxas info    : Compiling entry function 'sum_bf16' for 'sm_90a'
ptxas info    : Function properties for sum_bf16
    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 1 barriers
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized in function 'sum_bf16'
"""

PTX = """\
.visible .entry sum_f32(
.param .align 8 .b8 sum_f32_param_0[24]
)
.maxntid 256
{
}
.visible .entry any_size(
.param .u64 any_size_param_0
)
{
}
.visible .entry tile_f16(
.param .u64 tile_f16_param_0
)
.maxntid 16, 8, 1
.minnctapersm 2
{
"""

SASS = """\
	code for sm_90a
		Function : tile_f16
	.headerflags	@"EF_CUDA_ACCELERATORS EF_CUDA_SM90"
        /*0000*/                   LDC R1, c[0x0][0x28] ;                       /* 0x00000a00ff017b82 */
                                                                                /* 0x000e220000000800 */
        /*0010*/              @!P0 LDG.E.128 R4, desc[UR4][R2.64] ;             /* 0x0000000402028981 */
        /*0020*/                   HGMMA.64x8x16.F32 R24, gdesc[UR4], R24 ;     /* 0x0020000004187df0 */
        /*0030*/             @!UP1 HGMMA.64x8x16.F32 R24, gdesc[UR4], R24 ;     /* 0x0020000004187df0 */
        /*0040*/               @P1 EXIT ;                                       /* 0x000000000000794d */
	code for sm_80
		Function : tile_f16
        /*0000*/                   HMMA.16816.F32 R4, R4, R8, RZ ;              /* 0x000000080404723c */
"""


@pytest.fixture(scope="module")
def folder() -> Path:
    """The fat binaries of the module's build: beside the module or, for a wheel, in the wheel's build folder."""
    module = Path(os.environ.get("FERRULE_BACKEND_PATH", ""))
    for path in (module.parent / "fat_binaries", ROOT / "build" / "wheel-cuda" / "fat_binaries"):
        if any(path.glob("*.resources.txt")):
            return path
    return skipped("needs a build of the module by nvcc")


def skipped(reason: str) -> NoReturn:
    if os.environ.get("FERRULE_REQUIRE_FAT_BINARIES") == "1":
        pytest.fail(reason)
    pytest.skip(reason)


def test_the_text_of_ptxas_is_read() -> None:
    first, second = kernels_in(TEXT, "sum.cu")
    assert first == Kernel("sum.cu", "sum_f32", "sm_80", 40, 56, 8 + 4, 12, 1024)
    assert (second.name, second.architecture, second.registers, second.stack_bytes) == ("sum_bf16", "sm_90a", 10, 0)
    assert [kernel.family for kernel in (first, second)] == ["sum_*", "sum_*"]
    names = ("sum_rows", "sum_rows_i64", "blocks_f16_q4_K", "elementwise_u8_u8")
    families = [Kernel("", name, "sm_80").family for name in names]
    assert families == ["sum_rows", "sum_rows_*", "blocks_*", "elementwise_*"]


def test_spills_and_complaints_of_ptxas_are_faults() -> None:
    assert faults(kernels_in(TEXT, "sum.cu")) == [
        "sum.cu: sum_f32 on sm_80 spills: 12 bytes stored, 12 loaded",
        "sum.cu: sum_bf16 on sm_90a: Potential Performance Loss: wgmma.mma_async instructions are serialized in "
        "function 'sum_bf16'",
    ]


# The expected numbers are those of cudaOccMaxActiveBlocksPerMultiprocessor, of cuda_occupancy.h of CUDA 13.0.
@pytest.mark.parametrize(
    ("architecture", "threads", "registers", "shared", "blocks"),
    [
        ("sm_75", 256, 32, 0, 4),
        ("sm_75", 32, 16, 0, 16),
        ("sm_80", 256, 33, 0, 6),
        ("sm_80", 1000, 64, 0, 1),
        ("sm_80", 1024, 72, 0, 0),
        ("sm_86", 128, 40, 33 << 10, 2),
        ("sm_89", 32, 16, 0, 24),
        ("sm_90a", 384, 168, 0, 1),
        ("sm_100", 128, 64, 64 << 10, 3),
        ("sm_120", 288, 24, 0, 5),
    ],
)
def test_resident_blocks_are_those_of_the_toolkit(
    architecture: str, threads: int, registers: int, shared: int, blocks: int
) -> None:
    assert resident_blocks(architecture, threads, registers, shared) == blocks


def test_occupancy_is_a_part_of_the_warps() -> None:
    assert occupancy("sm_86", 256, 40, 0) == 1
    assert occupancy("sm_80", 1024, 64, 0) == 0.5


def test_launch_bounds_are_read_from_ptx() -> None:
    assert machine_code.bounds_in(PTX) == {"sum_f32": 256, "tile_f16": 128}


def test_machine_instructions_are_counted() -> None:
    assert machine_code.instructions_in(SASS) == {
        ("tile_f16", "sm_90a"): Counter({"HGMMA.64x8x16.F32": 2, "LDC": 1, "LDG.E.128": 1, "EXIT": 1}),
        ("tile_f16", "sm_80"): Counter({"HMMA.16816.F32": 1}),
    }


def test_the_page_gets_one_row_for_each_family(tmp_path: Path) -> None:
    (tmp_path / "sum.resources.txt").write_text(TEXT)
    page = tmp_path / "page.md"
    page.write_text(f"before\n{kernel_page.BEGIN}\nold\n{kernel_page.END}\nafter\n")
    assert resources.main([str(tmp_path), "--page", str(page)]) == 0
    assert resources.main([str(tmp_path), "--check"]) == 1
    lines = page.read_text().splitlines()
    assert (lines[0], lines[-1]) == ("before", "after")
    first = next(i for i, line in enumerate(lines) if line.startswith("| file | kernels | threads |"))
    assert lines[first].endswith("| sm_80 | sm_90a |")
    assert lines[first + 2] == "| `sum.cu` | `sum_*` |  | 10 to 40 | 0 to 56 | 0 to 24 | 0 to 1024 |  |  |"
    assert "old" not in lines


def test_no_kernel_spills(folder: Path) -> None:
    kernels = read(folder)
    assert kernels
    assert faults(kernels) == []


def test_every_kernel_states_its_block_size(folder: Path) -> None:
    if not machine_code.is_readable():
        skipped("needs cuobjdump and nvdisasm")
    blocks = block_sizes(folder)
    assert {kernel.name for kernel in read(folder)} == blocks.keys()


def test_a_kernel_without_a_path_of_its_family_is_found() -> None:
    family = Family("", "", "", ["16-byte loads", "mma"], {"mma": {"*_f64": "needs DMMA"}})
    assert family.missing("a_f32", Counter({"LDG.E.128.CONSTANT": 1, "HMMA.16816.F32": 2})) == []
    assert family.missing("a_f32", Counter({"LDG.E.64": 1, "HGMMA.64x8x16.F32": 1})) == ["16-byte loads", "mma"]
    assert family.missing("a_f64", Counter({"LDGSTS.E.BYPASS.128": 1})) == []


def test_the_table_of_families_has_each_file_and_names_paths() -> None:
    files = {path.stem for path in BACKEND.glob("kernels/**/*.cu")}
    assert set(families()) == files, "toolchain/kernel_families.toml needs a row for each file of kernels"
    for family in families().values():
        assert {*family.paths, *family.without} <= PATHS.keys()


def test_machine_code_has_the_paths_of_its_family(folder: Path) -> None:
    if not machine_code.is_readable():
        skipped("needs cuobjdump and nvdisasm")
    codes = {stem: machine_code.instructions(folder / f"{stem}.fatbin", kernel_page.PROVEN) for stem in families()}
    if not any(codes.values()):
        skipped(f"needs a build for {kernel_page.PROVEN}")
    missing = [
        (kernel, path)
        for stem, family in families().items()
        for (kernel, _), code in codes[stem].items()
        for path in family.missing(kernel, code)
    ]
    assert missing == []


def test_the_page_names_every_family(folder: Path) -> None:
    rows = set(
        re.findall(r"^\| `(\w+\.cu)` \| `([\w*]+)` \|", (BACKEND / "docs" / "kernels.md").read_text(), re.MULTILINE)
    )
    assert rows == {(kernel.file, kernel.family) for kernel in read(folder)}, (
        "docs/kernels.md says how to write it again"
    )


def test_development_and_wheel_use_the_same_versions() -> None:
    wheel = tomllib.loads((ROOT / "wheels" / "cuda" / "pyproject.toml").read_text())["build-system"]["requires"]
    development = (BACKEND / "dev-requirements.txt").read_text().splitlines()
    assert {line for line in wheel if line.startswith("nvidia-")} <= set(development)
