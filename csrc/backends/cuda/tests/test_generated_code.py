"""Machine code of generated kernels by NVIDIA's NVRTC, which needs no GPU: the texts are those that the emulated module
compiles. Nothing is executed."""

from __future__ import annotations

import ctypes
import importlib.util
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from csrc.backends.cuda.tests.elementwise_regions import REGIONS, SHOW
from csrc.backends.cuda.tests.processes import Processes
from csrc.backends.cuda.toolchain import machine_code, resource_usage
from csrc.backends.cuda.toolchain.resource_usage import Kernel

ARCHITECTURES = ("sm_75", "sm_90")


class Nvrtc:
    """The library of the package nvidia-cuda-nvrtc."""

    def __init__(self, file: Path, headers: Path) -> None:
        self._library = ctypes.CDLL(str(file))
        files = [path for path in sorted(headers.rglob("*")) if path.is_file()]
        self._names = [str(path.relative_to(headers)).encode() for path in files]
        self._texts = [path.read_bytes() for path in files]

    @staticmethod
    def _strings(strings: Sequence[bytes]) -> ctypes.Array[ctypes.c_char_p]:
        return (ctypes.c_char_p * len(strings))(*strings)

    def _bytes(self, program: ctypes.c_void_p, what: str) -> bytes:
        size = ctypes.c_size_t()
        assert getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(size)) == 0
        content = ctypes.create_string_buffer(size.value)
        assert getattr(self._library, f"nvrtcGet{what}")(program, content) == 0
        return content.raw

    def compile(self, text: str, options: Sequence[str]) -> tuple[str, bytes]:
        """Returns the log and the machine code."""
        program = ctypes.c_void_p()
        count = len(self._names)
        result = self._library.nvrtcCreateProgram(
            ctypes.byref(program),
            text.encode(),
            b"generated.cu",
            count,
            self._strings(self._texts),
            self._strings(self._names),
        )
        assert result == 0
        given = self._strings([option.encode() for option in options])
        result = self._library.nvrtcCompileProgram(program, len(options), given)
        log = self._bytes(program, "ProgramLog").rstrip(b"\0").decode()
        assert result == 0, log
        code = self._bytes(program, "CUBIN")
        self._library.nvrtcDestroyProgram(ctypes.byref(program))
        return log, code


@pytest.fixture(scope="session")
def texts(nvrtc_library: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the texts of all regions, their options, and the headers that they include."""
    folder = tmp_path_factory.mktemp("texts")
    start = Processes(tmp_path_factory.mktemp("process"))
    start(
        SHOW + "".join(REGIONS.values()),
        FERRULE_CUDA_NVRTC=str(nvrtc_library),
        FERRULE_CUDA_GENERATE_FROM="1",
        FERRULE_EMULATION_NVRTC="fails",
        FERRULE_EMULATION_NVRTC_FOLDER=str(folder),
    )
    return folder


@pytest.fixture(scope="session")
def nvrtc(texts: Path) -> Nvrtc:
    package = importlib.util.find_spec("nvidia.cu13") if importlib.util.find_spec("nvidia") else None
    for folder in (package.submodule_search_locations or []) if package else []:
        for file in (Path(folder) / "lib").glob("libnvrtc.so.*"):
            return Nvrtc(file, texts / "headers")
    pytest.skip("needs nvidia-cuda-nvrtc")


@pytest.fixture(scope="session")
def compiled(
    texts: Path, nvrtc: Nvrtc, tmp_path_factory: pytest.TempPathFactory
) -> dict[tuple[str, str], tuple[str, Kernel, Path]]:
    """By text and architecture: the text, what ptxas says, and a file with the code."""
    folder = tmp_path_factory.mktemp("code")
    results = {}
    for path in texts.glob("*.cu"):
        text = path.read_text()
        options = path.with_suffix(".options").read_text().split()
        others = [option for option in options if not option.startswith("--gpu-architecture=")]
        assert len(others) == len(options) - 1
        for architecture in ARCHITECTURES:
            log, code = nvrtc.compile(text, [*others, f"--gpu-architecture={architecture}", "--ptxas-options=-v"])
            assert "warning" not in log, log
            [kernel] = resource_usage.kernels_in(log, path.name)
            file = folder / f"{path.stem}.{architecture}.cubin"
            file.write_bytes(code)
            results[path.stem, architecture] = (text, kernel, file)
    return results


def test_no_generated_kernel_spills(compiled: dict[tuple[str, str], tuple[str, Kernel, Path]]) -> None:
    assert len(compiled) > 2 * len(REGIONS)
    assert resource_usage.faults([kernel for _, kernel, _ in compiled.values()]) == []


def test_generated_kernels_read_and_write_16_bytes(compiled: dict[tuple[str, str], tuple[str, Kernel, Path]]) -> None:
    if not machine_code.is_readable():
        pytest.skip("needs cuobjdump and nvdisasm")
    checked = 0
    for name, (text, _, file) in compiled.items():
        [counts] = machine_code.instructions(file).values()
        totals: Counter[str] = Counter()
        for instruction, count in counts.items():
            totals[instruction.split(".")[0] + (".128" if ".128" in instruction else "")] += count
        for function, wide in (("load", "LDG.128"), ("store", "STG.128")):
            if f"{function}<Format::f32, Access::flat>" in text or f"{function}<Format::f64, Access::flat>" in text:
                assert totals[wide] > 0, (name, text)
                checked += 1
    assert checked > len(ARCHITECTURES)
