"""Kernels that are generated from fused ops, compiled by the emulated NVRTC: the bits of the module's own kernels, the
cache, and what happens without NVRTC or with one that fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.elementwise_regions import REGIONS, SHOW
from csrc.backends.cuda.tests.processes import Done

Generate = Callable[..., Done]
Damage = Callable[[bytes], bytes]


@pytest.fixture
def generate(generate: Generate) -> Generate:
    """`generate` for programs that begin with SHOW."""
    return lambda program, **variables: generate(SHOW + program, **variables)


@pytest.mark.parametrize("region", REGIONS)
def test_bits_are_those_of_the_kernels_of_the_module(region: str, generate: Generate) -> None:
    own = generate(REGIONS[region], FERRULE_CUDA_NVRTC="0")
    generated = generate(REGIONS[region])
    assert (own.log, generated.log) == ("", "")
    assert own.compilations() == 0
    assert generated.compilations() > 0
    assert own.output.count("(") > 0
    assert generated.output == own.output


def test_negative_power_of_an_integer_is_reported(generate: Generate) -> None:
    program = """
f = fe.graph(lambda x, y: x ** y + 1)
print(attempt(lambda: f(put([2, 3], "int32"), put([3, 4], "int32"))))
print(attempt(lambda: f(put([2, 3], "int32"), put([3, -1], "int32"))))
print(attempt(lambda: f(put([2, 3], "int32"), put([0, 1], "int32"))))
"""
    own, generated = generate(program, FERRULE_CUDA_NVRTC="0"), generate(program)
    assert generated.output == own.output
    assert generated.compilations() > 0
    first, error, last = generated.output.splitlines()
    assert (first, last) == ("[9, 82]", "[2, 4]")
    assert "negative" in error


LARGE = """
f = fe.graph(lambda x: fe.exp(x) * 2 + x)
print(np.asarray(f(put(np.linspace(0, 1, 70000)))).tobytes().hex()[:400])
"""


def test_only_large_regions_of_several_ops_are_compiled(generate: Generate) -> None:
    default = {"FERRULE_CUDA_GENERATE_FROM": "65536"}
    assert generate(LARGE, **default).compilations() == 1
    assert generate(LARGE.replace("70000", "60000"), **default).compilations() == 0
    assert generate("print(fe.exp(put(np.zeros(70000))).shape)", **default).compilations() == 0


def test_shapes_scalars_and_later_compilations_share_a_kernel(generate: Generate) -> None:
    program = """
for size, factor in ((100, 2.5), (333, 3.5), (70000, 1e-3)):
    f = fe.graph(lambda x: fe.exp(x) * factor + x)
    print(f(put(np.ones(size)))[0])
"""
    assert generate(program).compilations() == 1


def test_second_process_compiles_nothing(generate: Generate) -> None:
    first, second = generate(LARGE), generate(LARGE)
    assert (first.compilations(), second.compilations()) == (1, 0)
    assert first.output == second.output
    # A third process with another region keeps the first one's kernel.
    assert generate(LARGE.replace("* 2", "- 2")).compilations() == 1
    assert generate(LARGE).compilations() == 0


def entries_of(folder: Path) -> list[Path]:
    """The files of kernels in the cache of processes that run in a folder."""
    files = [path for path in (folder / "cache").rglob("*") if path.is_file()]
    return [path for path in files if b"FERRULE_KERNEL" in path.read_bytes()]


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2] + b"?" + content[len(content) // 2 + 1 :],
        lambda content: content[: len(content) // 2],
        lambda content: content + b"?",
        lambda content: b"",
    ],
    ids=["a byte", "half of it", "a byte more", "all"],
)
def test_damaged_cache_is_written_again(damage: Damage, generate: Generate, tmp_path: Path) -> None:
    first = generate(LARGE)
    [entry] = entries_of(tmp_path)
    entry.write_bytes(damage(entry.read_bytes()))
    second, third = generate(LARGE), generate(LARGE)
    assert (second.log, third.log) == ("", "")
    assert (second.compilations(), third.compilations()) == (1, 0)
    assert first.output == second.output == third.output


def test_cache_keeps_the_newest_16_mib(generate: Generate, tmp_path: Path) -> None:
    regions = [LARGE.replace("* 2", f"{op} 2") for op in "*-+"]
    for region in regions:
        assert generate(region, FERRULE_EMULATION_NVRTC="size:7000000").compilations() == 1
    [entry] = entries_of(tmp_path)
    assert 14_000_000 < entry.stat().st_size < 16 << 20
    assert [generate(region).compilations() for region in regions[::-1]] == [0, 0, 1]


# `region` makes one of 256 kernels. Their machine code is the same here, as only their number matters.
MANY = """
import gc
def region(number):
    def function(x):
        for bit in range(8): x = x + x if number >> bit & 1 else x * x
        return x
    graph = fe.graph(function)
    fe.eval(graph(x))
    return graph

def logged(call):
    with open(os.environ["FERRULE_EMULATION_LOG"]) as file: return file.read().splitlines().count(call)

x = put([1, 2, 3])
used = [region(number) for number in range(3)]
for number in range(3, 150): region(number)
gc.collect()
"""


def test_open_device_keeps_128_unused_kernels_and_all_used_ones(generate: Generate) -> None:
    program = """
region(200)  # 147 others are unused
print(logged("- library"))
del used
gc.collect()
region(201)  # 132 others
print(logged("- library"))
before = logged("nvrtcCompileProgram")
region(149)
recent = logged("nvrtcCompileProgram")
region(5)
print(before, recent, logged("nvrtcCompileProgram"))
del x
fe.unload("cuda")
"""
    done = generate(MANY + program, FERRULE_EMULATION_NVRTC="first")
    assert done.output.split() == ["19", "23", "152", "152", "153"]
    assert done.leaks() == {}


def test_code_that_cannot_be_loaded_from_the_cache_is_compiled_again(generate: Generate) -> None:
    first = generate(LARGE)
    # The kernels of the cache are loaded before those of the module.
    second = generate(LARGE, FERRULE_EMULATION_CALL_FAILS="cudaLibraryLoadData:1:cudaErrorInvalidKernelImage")
    assert "failed cudaLibraryLoadData" in second.calls
    assert second.compilations() == 1
    assert first.output == second.output


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({"FERRULE_CUDA_NVRTC": "/nowhere/libnvrtc.so.13"}, "/nowhere/libnvrtc.so.13"),
        ({"FERRULE_CUDA_NVRTC": "libm.so.6"}, "it has no function nvrtcVersion"),
        ({"FERRULE_CUDA_NVRTC": ""}, "no NVRTC"),
        ({"FERRULE_EMULATION_NVRTC": "version:11.8"}, "it is of CUDA 11.8, and kernels need 12.0 or later"),
        ({"FERRULE_EMULATION_NVRTC": "architecture:80"}, "it does not compile for compute capability 9.0"),
    ],
)
def test_missing_nvrtc_is_one_line_of_the_log(variables: dict[str, str], reason: str, generate: Generate) -> None:
    own = generate(LARGE, FERRULE_CUDA_NVRTC="0")
    quiet = generate(LARGE, **variables)
    told = generate(LARGE, FERRULE_LOG="info", **variables)
    assert own.output == quiet.output == told.output
    assert quiet.log == ""
    assert told.compilations() == 0


@pytest.mark.parametrize(
    ("failure", "reason"),
    [
        ("fails", "generated.cu(1): error: FERRULE_EMULATION_NVRTC says so"),
        ("out_of_memory", "nvrtcCreateProgram returned NVRTC_ERROR_OUT_OF_MEMORY"),
        ("broken", "cudaLibraryLoadData returned cudaErrorInvalidKernelImage"),
    ],
)
def test_failing_compilation_is_one_warning(failure: str, reason: str, generate: Generate) -> None:
    program = LARGE + LARGE.replace("* 2", "- 2")
    own = generate(program, FERRULE_CUDA_NVRTC="0")
    failing = generate(program, FERRULE_EMULATION_NVRTC=failure)
    assert failing.output == own.output
    assert failing.log.count("a generated kernel cannot be used") == 1
    assert reason in failing.log
    # Nothing of it is in the cache.
    assert generate(LARGE).compilations() == 1


def test_other_version_compiles_only_what_has_the_same_bits(generate: Generate) -> None:
    other = {"FERRULE_EMULATION_NVRTC": "version:12.8"}
    assert generate(LARGE, **other).compilations() == 0  # exp may be another
    assert generate(LARGE.replace("fe.exp", "fe.sqrt"), **other).compilations() == 1


def test_threads_that_compile_one_region_at_once_compile_it_once(generate: Generate) -> None:
    program = """
x = put(np.linspace(0, 1, 1000))
fe.eval(x)
results = [None] * 6
def work(number):
    results[number] = np.asarray(fe.graph(lambda x: fe.sin(x) * 2 + x)(x)).tobytes()
in_threads(6, work)
print(len(set(results)), None in results)
"""
    done = generate(program)
    assert done.output.split() == ["1", "False"]
    assert done.compilations() == 1


def test_closed_device_has_unloaded_its_kernels(generate: Generate) -> None:
    done = generate(LARGE + 'del f\nfe.unload("cuda")\n')
    assert done.compilations() == 1
    assert done.leaks() == {}


def test_zero_generates_kernels_for_single_ops_too(generate: Generate) -> None:
    program = "print(fe.exp(put([0, 1])).tolist())"
    assert generate(program).compilations() == 0
    assert generate(program, FERRULE_CUDA_GENERATE_FROM="0").compilations() == 1


def test_negative_number_of_elements_is_an_error(generate: Generate) -> None:
    done = generate('print(attempt(lambda: fe.ones(2, device="cuda") + 1))', FERRULE_CUDA_GENERATE_FROM="-1")
    assert "option generate_from is -1, and must be a number of elements, or 0" in done.output
