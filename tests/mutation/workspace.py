"""Copies of the tree in which faults are planted, and their builds: one module, or the core and its tests."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from .backends import BACKENDS, ROOT

FOLDER = ROOT / "build" / "mutation"
BUILD_LIMIT = 900.0  # seconds; a fault can send the compiler into a loop, too


class BuildError(Exception):
    """Carries the last lines of the build's output."""


@dataclass(frozen=True)
class Layout:
    """The target that is built of a copy, its options, and the file that the faults must change."""

    folders: tuple[str, ...]
    options: tuple[str, ...]
    target: str
    product: str  # in the build folder
    left_out: str = ""  # a pattern of paths of files that are not copied
    further_targets: tuple[str, ...] = ()  # built once, without a fault


# The unit tests that use graphs: the others take longer to compile than all faults together.
_OTHER_TESTS = "(?!(?:compiler|executor|graph|ops|sdk)/).*_test[.]cpp"


# As in the presets asan and tsan.
_SANITIZERS = {"address": "address,undefined", "thread": "thread"}


def _sanitized(sanitizer: str) -> tuple[str, ...]:
    if not sanitizer:
        return ()
    flags = ("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -g1")
    return (f"-DFERRULE_SANITIZE={_SANITIZERS[sanitizer]}", *flags)


def layout_of(area: str, variant: str, sanitizer: str = "") -> Layout:
    common = ("csrc", "cmake")
    if area not in BACKENDS:
        options = ("-DFERRULE_BUILD_TESTS=ON", "-DFERRULE_PACKAGE_LAYOUT=ON", "-DFERRULE_VARIANTS=x64")
        folders = (*common, "tests/cpp", "tests/c")
        return Layout(folders, options, "ferrule-tests", "libferrule.so", _OTHER_TESTS)
    backend = BACKENDS[area]
    chosen = (option.format(variant=variant) for option in backend.options)
    module = ("-DFERRULE_BUILD_TESTS=OFF", *chosen, *_sanitized(sanitizer))
    product = f"{backend.folder}/{backend.product.format(variant=variant)}"
    target, parts = backend.target.format(variant=variant), (*common, *backend.folders)
    return Layout(parts, module, target, product, further_targets=backend.further_targets)


class Workspace:
    """One copy, of the core or of a backend; a sanitizer has one of its own."""

    def __init__(self, area: str, variant: str, sanitizer: str = "") -> None:
        self.layout = layout_of(area, variant, sanitizer)
        self.folder = FOLDER / f"{area}-{sanitizer or 'plain'}"
        self.source = self.folder / "source"
        self.build_folder = self.source / "build" / "tests"  # as deep as other builds: ccache knows their objects
        self.product = self.build_folder / self.layout.product
        self.clean = self.folder / "clean" / self.product.name  # the product without a fault

    def prepare(self) -> None:
        """Updates the copy, configures and builds it."""
        for name in self.layout.folders:
            _update(ROOT / name, self.source / name, self.layout.left_out)
        _update_file(ROOT / "CMakeLists.txt", self.source / "CMakeLists.txt")
        self._run("cmake", "-G", "Ninja", "-S", self.source, "-B", self.build_folder, *self.layout.options)
        self.build(self.layout.target, *self.layout.further_targets, readonly_cache=False)
        self.clean.parent.mkdir(exist_ok=True)
        for path in (self.product, self.product.with_suffix(".json")):
            if path.exists():
                shutil.copy2(path, self.clean.with_name(path.name))

    def build(self, *targets: str, readonly_cache: bool = True) -> None:
        """Raises BuildError. Objects with a fault are not stored in the compiler cache."""
        cache = {"CCACHE_READONLY": "1"} if readonly_cache else {}
        self._run("ninja", "-C", self.build_folder, *(targets or (self.layout.target,)), environment=cache)

    @property
    def is_identical(self) -> bool:
        """Whether the product has the same bytes as without a fault."""
        return digest(self.product) == digest(self.clean)

    @contextlib.contextmanager
    def planted(self, file: str, text: str) -> Iterator[None]:
        """Replaces the file's text in the context. Files built from it are rebuilt the next time."""
        path = self.source / file
        kept = path.read_bytes()
        try:
            path.write_text(text)
            yield
        finally:
            path.write_bytes(kept)

    def _run(self, *command: object, environment: dict[str, str] | None = None) -> None:
        words = list(map(str, command))
        try:
            done = subprocess.run(
                words,
                capture_output=True,
                text=True,
                check=False,
                timeout=BUILD_LIMIT,
                env={**os.environ, **(environment or {})},
            )
        except subprocess.TimeoutExpired:
            raise BuildError(f"{words[0]}: no end after {BUILD_LIMIT:.0f} s") from None
        if done.returncode != 0:
            raise BuildError(f"{' '.join(words)}\n{done.stdout[-3000:]}{done.stderr[-3000:]}")


class KernelWorkspace(Workspace):
    """A workspace of a module whose kernels have a target of their own. If a header has the fault, one of the kernel
    files that include it can be compiled alone; the others stay unchanged."""

    def __init__(self, area: str, variant: str, sanitizer: str = "") -> None:
        super().__init__(area, variant, sanitizer)
        self._has_built_all = False  # since the last fault was planted
        self._objects = f"{BACKENDS[area].folder}/CMakeFiles/{self.layout.target}-kernels.dir/kernels"

    def prepare(self) -> None:
        super().prepare()
        shutil.copytree(self.build_folder / self._objects, self.folder / "clean" / "objects", dirs_exist_ok=True)

    def build(self, *targets: str, readonly_cache: bool = True) -> None:
        self._has_built_all = True
        super().build(*targets, readonly_cache=readonly_cache)

    def build_unit(self, name: str) -> bool:
        """Compiles one kernel file and links it with the others. Returns False if its object is unchanged. Runs ninja's
        commands directly, because ninja would compile all files that include a changed header. The object is linked
        first: of an inline function or template that several files have, the linker takes the first."""
        kernel = f"{self._objects}/{name}.o"
        self._run_command_of(kernel)
        if digest(self._object(name)) == digest(self._clean_object(name)):
            return False
        self._run_command_of(self.layout.target, first=kernel)
        return True

    def build_all(self) -> None:
        """Builds the module, with every kernel file that is newer."""
        self.build()

    def _run_command_of(self, target: str, first: str = "") -> None:
        command = ["ninja", "-C", str(self.build_folder), "-t", "commands", target]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        line = listed.stdout.splitlines()[-1]
        if first:
            output = re.search(r" -o \S+", line)
            assert output is not None
            others = line[output.end() :].replace(f" {first}", "", 1)
            line = f"{line[: output.end()]} {first}{others}"
        self._run("sh", "-c", f"cd '{self.build_folder}' && {line}", environment={"CCACHE_READONLY": "1"})

    @contextlib.contextmanager
    def planted(self, file: str, text: str) -> Iterator[None]:
        """Also restores times and objects of kernels, so that they need not be recompiled. The module is linked again,
        and files other than kernels are compiled, such as those that plan their launches: otherwise the fault would
        remain in the next build and count as clean."""
        path = self.source / file
        self._has_built_all = False
        kept, times = path.read_bytes(), path.stat()
        try:
            path.write_text(text)
            yield
        finally:
            clean_objects = self.folder / "clean" / "objects"
            for clean in clean_objects.rglob("*.o"):
                now = self.build_folder / self._objects / clean.relative_to(clean_objects)
                if not now.exists() or now.stat().st_mtime_ns != clean.stat().st_mtime_ns:
                    shutil.copy2(clean, now)
            path.write_bytes(kept)
            kernels = self.source / Path(file).parts[0] / "backends" / Path(file).parts[2] / "kernels"
            is_kernel = path.is_relative_to(kernels) and (clean_objects / f"{path.relative_to(kernels)}.o").exists()
            if is_kernel or not self._has_built_all:
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.product.unlink(missing_ok=True)

    def _object(self, name: str) -> Path:
        return self.build_folder / self._objects / f"{name}.o"

    def _clean_object(self, name: str) -> Path:
        return self.folder / "clean" / "objects" / f"{name}.o"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _update(source: Path, to: Path, left_out: str) -> None:
    """Makes a folder equal to another. A file with the same bytes keeps its time; a changed one gets a time newer than
    any build, even if an interrupted run left a fault in it."""
    files = (path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    paths = (path.relative_to(source) for path in files)
    wanted = {path for path in paths if not re.fullmatch(left_out, path.as_posix())}
    for path in [path for path in to.rglob("*") if path.is_file()]:
        if path.relative_to(to) not in wanted:
            path.unlink()
    for name in wanted:
        _update_file(source / name, to / name)


def _update_file(source: Path, to: Path) -> None:
    if not to.exists() or to.read_bytes() != source.read_bytes():
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, to)
        shutil.copymode(source, to)
