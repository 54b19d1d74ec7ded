"""`python tests/tidy.py BUILD [--together]`: writes BUILD/tidy/build.ninja, which runs clang-tidy on each source.

The sources are those in C and C++. BUILD is a configured build folder, whose flags are used. Ninja looks at a source
again when it, a header that it includes, its flags, .clang-tidy or clang-tidy itself has changed. With --together,
sources that BUILD compiles as one (CMAKE_UNITY_BUILD) are looked at as one: a third of the time, but an include that is
missing goes unnoticed.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import sys
from collections.abc import Iterator
from pathlib import Path

import clang_tidy
import tidy_cached

ROOT = Path(__file__).resolve().parents[1]
# Faulty by intent; for other systems and Pythons; includes headers that its test generates, or that are downloaded.
SKIPPED = {"hostile", "linux", "skew", "windows"}
# A file that includes the sources that are compiled as one.
UNITY_NAME = re.compile(r"/unity_\d+_(c\.c|cxx\.cxx)$")
UNITY_MEMBER = re.compile(r'^#include "(.*)"$', re.MULTILINE)
# These report that a source is included, and what two sources declare.
NOT_TOGETHER = "--checks=-bugprone-suspicious-include,-readability-redundant-declaration"
# libstdc++ calls what it deprecates itself. What we call is reported by g++.
EXTRA = ["-Wno-error=deprecated-declarations"]
RULE = """\
rule tidy
  command = {python} {cached} {tidy} $out $in $options -- $flags
  depfile = $out.d
  deps = gcc
  description = clang-tidy $in
"""


def sources() -> Iterator[Path]:
    for folder in ("csrc", "tests", "python"):
        for path in sorted((ROOT / folder).glob("**/*.c*")):
            if path.suffix in (".c", ".cpp") and not SKIPPED & set(path.relative_to(ROOT).parts):
                yield path


def flags_by_source(build: Path) -> dict[str, list[str]]:
    """Compiler flags of the sources that `build` compiles. Where several targets compile one, the first counts."""
    flags: dict[str, list[str]] = {}
    for entry in json.loads((build / "compile_commands.json").read_text(encoding="utf-8")):
        _, *arguments = shlex.split(entry["command"])
        output = arguments.index("-o")
        del arguments[output : output + 2]
        arguments.remove("-c")
        arguments.remove(entry["file"])
        # Checks skip system headers: the generated headers of the backends hold a million words of SPIR-V.
        generated = f"-I{build}/csrc/backends/"
        flags.setdefault(
            entry["file"],
            [
                argument.replace("-I", "-isystem", 1) if argument.startswith(generated) else argument
                for argument in arguments
            ],
        )
    return flags


def other_flags(path: Path, build: Path) -> list[str]:
    """Compiler flags of a source of another build, such as tests/foreign, with the headers that it is meant to see."""
    folders = [ROOT / "csrc", ROOT / "csrc/sdk", build / "generated/include", build / "generated/layout"]
    folders += [ROOT / "python/ferrule/templates/backend/kernels", build / "tidy", ROOT / "tests/emulation"]
    names = ['FERRULE_MODULE_NAME="foreign"', 'FERRULE_MODULE_VARIANT=""', "FERRULE_MODULE_SYMBOL=foreign"]
    names += ['BACKEND_VERSION=""']
    standard = "-std=c11" if path.suffix == ".c" else "-std=c++20"
    return [standard, "-Wall", *(f"-I{folder}" for folder in folders), *(f"-D{name}" for name in names)]


def unity_files(flags: dict[str, list[str]]) -> dict[Path, list[Path]]:
    """The files of the build by which several sources are compiled as one, with those sources."""
    together: dict[Path, list[Path]] = {}
    for path in (Path(name) for name in flags if UNITY_NAME.search(name)):
        members = [Path(name) for name in UNITY_MEMBER.findall(path.read_text(encoding="utf-8"))]
        if not any(SKIPPED & set(member.parts) for member in members):
            together[path] = members
    return together


def ninja_text(build: Path, together: bool) -> str:
    tidy = clang_tidy.get_executable("clang-tidy")
    known = flags_by_source(build)
    text = RULE.format(python=sys.executable, cached=Path(tidy_cached.__file__), tidy=tidy)
    several = unity_files(known) if together else {}
    members = {path for group in several.values() for path in group}
    for path in [*several, *(path for path in sources() if path not in members)]:
        flags = shlex.join([*(known.get(str(path)) or other_flags(path, build)), *EXTRA]).replace("$", "$$")
        needed = f"{ROOT}/.clang-tidy {tidy} {tidy_cached.__file__}"
        text += f"build {path.relative_to(ROOT)}.tidy: tidy {path} | {needed}\n  flags = {flags}\n"
        if path in several:
            text += f"  options = {NOT_TOGETHER}\n"
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("build", type=Path)
    parser.add_argument("--together", action="store_true")
    arguments = parser.parse_args()
    build = arguments.build.resolve()
    folder = build / "tidy"
    folder.mkdir(exist_ok=True)
    (folder / "kernels.inc").write_text("KERNEL(softmax)\n", encoding="utf-8")  # as the template's CMake writes it
    tidy_cached.forget_old_passes()
    (folder / "build.ninja").write_text(ninja_text(build, arguments.together), encoding="utf-8")


if __name__ == "__main__":
    main()
