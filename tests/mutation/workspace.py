"""Copies of the tree in which faults are planted, and what is built of them: one module, or the core and its tests."""

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

ROOT = Path(__file__).parents[2]
FOLDER = ROOT / "build" / "mutation"
BUILD_LIMIT = 900.0  # seconds; a fault can send the compiler into a loop, too


class BuildError(Exception):
    """The last lines of what the build said."""


@dataclass(frozen=True)
class Layout:
    """What is built of a copy, with what options, and which file the faults are to change."""

    folders: tuple[str, ...]
    options: tuple[str, ...]
    target: str
    product: str  # in the build folder
    left_out: str = ""  # names of files that are not copied, as a pattern


# Of the unit tests those that have to do with graphs: the others take longer to compile than all faults together.
_OTHER_TESTS = "(?!compiler_|executor_|graph_|ops_|layout_).*_test[.]cpp"


def layout_of(area: str, variant: str) -> Layout:
    common = ("csrc", "cmake")
    if area == "passes":
        options = ("-DFERRULE_BUILD_TESTS=ON", "-DFERRULE_PACKAGE_LAYOUT=ON", "-DFERRULE_VARIANTS=x64")
        folders = (*common, "tests/cpp", "tests/c", "tests/skew")
        return Layout(folders, options, "ferrule-tests", "libferrule.so", _OTHER_TESTS)
    module = ("-DFERRULE_BUILD_TESTS=OFF", f"-DFERRULE_VARIANTS={variant}")
    if area == "vulkan":
        path = "csrc/backends/vulkan/libferrule-vulkan.so"
        return Layout(common, (*module, "-DFERRULE_VULKAN=ON"), "ferrule-vulkan", path)
    return Layout(common, module, f"ferrule-cpu-{variant}", f"csrc/backends/cpu/libferrule-cpu-{variant}.so")


class Workspace:
    """One copy. `number` tells those that work side by side apart."""

    def __init__(self, area: str, variant: str, number: int = 0) -> None:
        self.layout = layout_of(area, variant)
        self.folder = FOLDER / f"{area}-{number}"
        self.source = self.folder / "source"
        self.build_folder = self.source / "build" / "tests"  # as deep as other builds: ccache knows their objects
        self.product = self.build_folder / self.layout.product
        self.clean = self.folder / "clean" / self.product.name  # the product without a fault

    def prepare(self) -> None:
        """Brings the copy up to date, configures and builds it."""
        for name in self.layout.folders:
            _update(ROOT / name, self.source / name, self.layout.left_out)
        _update_file(ROOT / "CMakeLists.txt", self.source / "CMakeLists.txt")
        self._run("cmake", "-G", "Ninja", "-S", self.source, "-B", self.build_folder, *self.layout.options)
        self.build(readonly_cache=False)
        self.clean.parent.mkdir(exist_ok=True)
        for path in (self.product, self.product.with_suffix(".json")):
            if path.exists():
                shutil.copy2(path, self.clean.with_name(path.name))

    def build(self, *targets: str, readonly_cache: bool = True) -> None:
        """Raises BuildError. What has a fault in it does not go into the cache of the compiler."""
        cache = {"CCACHE_READONLY": "1"} if readonly_cache else {}
        self._run("ninja", "-C", self.build_folder, *(targets or (self.layout.target,)), environment=cache)

    @property
    def is_identical(self) -> bool:
        """Whether the product has the bytes that it has without a fault."""
        return digest(self.product) == digest(self.clean)

    @contextlib.contextmanager
    def planted(self, file: str, text: str) -> Iterator[None]:
        """The file has this text meanwhile. What was built of it is built anew the next time."""
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
    """Of the CPU module. The kernel files that include a header with a fault are compiled one at a time, as long as
    nothing has caught it; the others stay as they are."""

    def __init__(self, area: str, variant: str, number: int = 0) -> None:
        super().__init__(area, variant, number)
        self._objects = f"csrc/backends/cpu/CMakeFiles/{self.layout.target}-kernels.dir/kernels"

    def prepare(self) -> None:
        super().prepare()
        shutil.copytree(self.build_folder / self._objects, self.folder / "clean" / "objects", dirs_exist_ok=True)

    def build_unit(self, name: str) -> bool:
        """Compiles one kernel file and links it with the others. False when its object is what it was. By ninja's
        commands and without ninja, which would compile all that includes a changed header."""
        self._run_command_of(f"{self._objects}/{name}.o")
        if digest(self._object(name)) == digest(self._clean_object(name)):
            return False
        self._run_command_of(self.layout.target)
        return True

    def build_all(self) -> None:
        """The module, with every kernel file that is newer."""
        self.build()

    def _run_command_of(self, target: str) -> None:
        command = ["ninja", "-C", str(self.build_folder), "-t", "commands", target]
        listed = subprocess.run(command, capture_output=True, text=True, check=True)
        line = listed.stdout.splitlines()[-1]
        self._run("sh", "-c", f"cd '{self.build_folder}' && {line}", environment={"CCACHE_READONLY": "1"})

    @contextlib.contextmanager
    def planted(self, file: str, text: str) -> Iterator[None]:
        """Times and objects of kernels are put back, too: they need not be compiled anew. The module is linked anew,
        and what is no kernel compiled: else the fault would stay in what is built next, and be taken for clean."""
        path = self.source / file
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
            if any(folder.name == "kernels" for folder in path.resolve().parents):
                os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
            self.product.unlink(missing_ok=True)

    def _object(self, name: str) -> Path:
        return self.build_folder / self._objects / f"{name}.o"

    def _clean_object(self, name: str) -> Path:
        return self.folder / "clean" / "objects" / f"{name}.o"


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def _update(source: Path, to: Path, left_out: str) -> None:
    """Makes a folder what another is. A file whose bytes are the same keeps its time; another one is newer than
    anything built, also if an interrupted run left a fault in it."""
    files = (path for path in source.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    wanted = {path.relative_to(source) for path in files if not re.fullmatch(left_out, path.name)}
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
