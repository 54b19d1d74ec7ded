"""An invented block dtype is added to copies of four files. What reads the table then knows it, and compiles as it is.

Its kernels are not among these: a device that has none says so.
"""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
import textwrap
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
BUILD = ROOT / "build" / "dev"
# The edits, by file: what is in front of the new text, and that text. docs/develop/dtypes.md lists these files.
EDITS = {
    "csrc/sdk/ferrule/dtypes.h": ("BLOCK(nvfp4,   64,  36,  0, 40)", " BLOCK(q9_0, 32, 38, 1, 99)"),
    "python/ferrule/__init__.py": ("        q8_0 as q8_0,\n", "        q9_0 as q9_0,\n"),
    "python/ferrule/testing/model/values.py": ('"q6_K": (208,)', ', "q9_0": (0,)'),
    "docs/use/arrays.md": ("`fe.q8_0`", ", `fe.q9_0`"),
}
# Sources that are made of the rows, and the targets that they belong to.
READERS = {
    "csrc/base/narrow_float.cpp": "ferrule_base",
    "csrc/ops/conversion.cpp": "ferrule_ops",
    "csrc/ops/generate/op_table.cpp": "ferrule-generate-ops",
    "csrc/core/graph/graph.cpp": "ferrule_core",
    "csrc/conformance/host.cpp": "ferrule-conformance",
    "csrc/backends/cpu/operands.cpp": "ferrule-cpu-objects",
    "csrc/backends/cpu/kernels/selection.cpp": "ferrule-cpu-x64-kernels",
    "csrc/backends/cpu/kernels/conversion/quantize.cpp": "ferrule-cpu-x64-kernels",
}

pytestmark = pytest.mark.skipif(not (BUILD / "compile_commands.json").is_file(), reason="there is no build/dev")


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the edited files, by their paths in the repository."""
    assert len(EDITS) <= 4
    folder = tmp_path_factory.mktemp("tree")
    for name, (before, new) in EDITS.items():
        text = (ROOT / name).read_text(encoding="utf-8")
        assert text.count(before) == 1, name
        (folder / name).parent.mkdir(parents=True)
        (folder / name).write_text(text.replace(before, before + new), encoding="utf-8")
    return folder


def compiler_of(target: str, tree: Path) -> list[str]:
    """The compiler and the flags of a target, with which the edited headers are found first."""
    for entry in json.loads((BUILD / "compile_commands.json").read_text(encoding="utf-8")):
        words = shlex.split(entry["command"])
        output = words.index("-o")
        if f"CMakeFiles/{target}.dir/" in words[output + 1] and Path(words[-1]).suffix in (".cpp", ".cxx"):
            return [words[0], "-I", str(tree / "csrc" / "sdk"), *words[1:output], "-O0"]
    raise AssertionError(f"no command of {target}")


def run(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, cwd=BUILD)
    assert done.returncode == 0, f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}"
    return done.stdout


def test_all_readers_of_the_table_compile(tree: Path) -> None:
    def check(source: str) -> str:
        return run(*compiler_of(READERS[source], tree), "-fsyntax-only", ROOT / source)

    with ThreadPoolExecutor(2) as pool:
        list(pool.map(check, READERS))


def test_the_core_knows_the_dtype(tree: Path) -> None:
    program = tree / "program.cpp"
    program.write_text(
        textwrap.dedent("""
        #include "base/dtype.h"
        #include <cstdio>
        using namespace ferrule;
        int main() {
          const DTypeRow* row = find_dtype("q9_0");
          const fe_dtype_info* info = info_of(static_cast<fe_dtype>(row->dtype));
          const bool is_right = is_block(row->dtype) && row->is_encoded && bytes_of(DType::q9_0, 64) == 76 &&
                                promote(DType::q9_0, DType::float32) == DType::none &&
                                static_cast<fe_dtype>(DType::nvfp4) + 1 == static_cast<fe_dtype>(DType::q9_0);
          std::printf("%s %u ", info->name, info->dtype_class);
          std::printf("%u %u %d", info->block_elements, info->block_bytes, is_right);
        }
        """),
        encoding="utf-8",
    )
    compiler = compiler_of("ferrule_base", tree)
    run(*compiler, program, ROOT / "csrc/base/dtype.cpp", "-o", tree / "program")
    assert run(tree / "program") == "q9_0 5 32 38 1"


def test_python_and_the_kit_know_the_dtype(tree: Path) -> None:
    """The extension's table is compiled alone, and takes the place of the installed one. Modules make lists of it."""
    module = tree / "module.cpp"
    module.write_text(
        '#include "bindings/dtype_table.cpp"\n'
        "PYBIND11_MODULE(new_table, module) { ferrule::python::bind_dtype_table(module); }\n",
        encoding="utf-8",
    )
    compiler = [*compiler_of("_ferrule", tree), "-I", str(ROOT / "csrc"), "-shared"]
    run(*compiler, module, "-o", tree / "new_table.so")
    program = """
        import sys
        from importlib import reload
        from ferrule import _ferrule
        from ferrule.dtypes import classification
        from ferrule.testing.model import dtypes
        sys.path.insert(0, sys.argv[1])
        import new_table
        assert "q9_0" not in classification.DTYPE_NAMES
        known = dict(_ferrule.DTYPES)
        _ferrule.DTYPES = new_table.DTYPES
        assert {name: tuple(row) for name, row in new_table.DTYPES.items() if name in known} == known
        row = new_table.DTYPES["q9_0"]
        assert (row.dtype_class, row.block_elements, row.block_bytes, row.gguf) == ("block", 32, 38, 99)
        assert reload(classification).DTYPE_NAMES[-1] == "q9_0"
        assert reload(dtypes).BLOCKS["q9_0"] == (32, 38)
        from ferrule.testing.cases import conversion
        made = {(case.dtypes, case.result) for case in conversion.CASES}
        assert {(("q9_0",), "float32"), (("float32",), "q9_0")} <= made
    """
    run(sys.executable, "-P", "-c", textwrap.dedent(program), tree)


def test_the_public_name_is_generated(tree: Path) -> None:
    names = tree / "public_names.py"
    package = tree / "package" / "ferrule"
    shutil.copytree(ROOT / "python" / "ferrule", package, ignore=shutil.ignore_patterns("testing", "templates"))
    shutil.copy(tree / "python" / "ferrule" / "__init__.py", package)
    run(sys.executable, ROOT / "cmake/python/public_names.py", names, package, BUILD / "generated" / "python")
    found: dict[str, dict[str, str]] = {}
    exec(names.read_text(encoding="utf-8"), found)
    assert found["MODULES"]["q9_0"] == "ferrule.dtypes.blocks"


def test_a_block_dtype_is_named_in_these_files_alone() -> None:
    """Besides kernels, tests, benchmarks and generated pages; otherwise there is a second list to keep."""
    named = {
        file.relative_to(ROOT).as_posix()
        for folder in ("csrc", "python", "cmake", "tools", "docs")
        for file in (ROOT / folder).rglob("*.*")
        if not {"kernels", "tests", "__pycache__"} & set(file.parts) and b"q6_K" in file.read_bytes()
    }
    assert named - {"docs/use/ops.md"} == set(EDITS)
