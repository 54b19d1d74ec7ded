"""The slow stages: each a list of steps, which `./dev verify` runs one after the other."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Iterator
from functools import partial

from tools import backends, builds, environment, other_systems, sanitizers, testing, wheels
from tools.environment import PYTHON, VENV
from tools.process import CORES, ROOT, run
from tools.steps import Choice, Step

FUZZ_SECONDS = 20
# The programs that test the emulators.
CUDA_CHECKS = ("emulation-tests", "emulation-races")
METAL_CHECKS = ("emulation-metal-tests", "emulation-metal-races", "simulated-metal-tests")


def address(choice: Choice) -> Iterator[Step]:
    yield Step("build", lambda: sanitizers.build_address())
    yield Step("C++ tests", lambda: testing.ctest(sanitizers.ADDRESS))
    yield Step("Python tests", lambda: sanitizers.address_python(*choice.stop_early()))
    yield Step("kit", lambda: sanitizers.address_kit("--ferrule-level", "brief", *choice.ops(), *choice.stop_early()))
    layout = "float32 and (guards or shapes or layouts)"
    yield Step("kit of layouts", lambda: sanitizers.address_kit("-k", layout, *choice.ops(), *choice.stop_early()))
    for name in backends.names():
        yield Step(f"build of {name}", partial(sanitizers.build_backend, "asan", name))
        yield Step(f"kit on {name}", partial(sanitizers.address_backend, name))


def thread(choice: Choice) -> Iterator[Step]:
    yield Step("build", lambda: sanitizers.build_thread())
    yield Step("C++ tests", lambda: testing.ctest(sanitizers.THREAD, "-R", sanitizers.THREAD_TESTS))
    for name in backends.names():
        if backends.settings(name).thread_tests:
            yield Step(f"build of {name}", partial(sanitizers.build_backend, "tsan", name))
            yield Step(f"kit on {name}", partial(sanitizers.thread_kit, name))
            yield Step(f"tests of {name}", partial(sanitizers.thread_tests, name))
    yield Step("build of the emulators", lambda: builds.compile("tsan-backends", *CUDA_CHECKS, *METAL_CHECKS))
    emulators = ROOT / "build" / "tsan-backends"
    yield Step("emulators", lambda: testing.ctest(emulators, "-R", r"^(cuda|metal)\."))


def fuzz(choice: Choice) -> Iterator[Step]:
    yield Step("prepare", lambda: environment.system([*environment.BUILD, "clang", "lld", "libclang-rt-dev"]))
    yield Step("build", lambda: builds.compile("fuzz", "fuzz"))
    for source in sorted((ROOT / "tests" / "fuzz").glob("*.cpp")):
        yield Step(source.stem, partial(fuzz_one, source.stem))


def fuzz_one(name: str) -> None:
    """Start from real files and from inputs of earlier runs. An input that fails is kept in build/fuzz/finds."""
    folder = ROOT / "build" / "fuzz"
    corpus, finds = folder / "corpus" / name, folder / "finds"
    for path in (corpus, finds):
        path.mkdir(parents=True, exist_ok=True)
    limits = [f"-max_total_time={FUZZ_SECONDS}", "-timeout=100", "-rss_limit_mb=2048", "-max_len=65536"]
    files = [f"-dict=tests/fuzz/{name}.dict", f"-artifact_prefix={finds}/{name}-"]
    run(folder / "tests" / "fuzz" / f"fuzz-{name}", *limits, *files, corpus, folder / "tests" / "fuzz" / "seeds" / name)


def static(choice: Choice) -> Iterator[Step]:
    yield Step("prepare", lambda: environment.system())
    yield Step("build", lambda: builds.compile("static"))
    yield Step("C++ tests", lambda: testing.ctest(ROOT / "build" / "static"))


def wheels_(choice: Choice) -> Iterator[Step]:
    # Code for the oldest and for the most special GPU: nvcc takes far longer for all seven.
    os.environ.setdefault("FERRULE_BUILD_CUDA_ARCHITECTURES", "75 90a")
    yield Step("prepare", wheels.prepare)
    yield Step("ferrule", lambda: wheels.core(wheels.THIS_PLATFORM))
    for name in backends.names():
        if wheels.THIS_PLATFORM in backends.settings(name).platforms:
            yield Step(name, partial(wheels.of_backend, name, wheels.THIS_PLATFORM))
            if name == "cuda":
                kernels = backends.FOLDER / name / "tests" / "test_resources.py"
                compiled = {"FERRULE_REQUIRE_FAT_BINARIES": "1"}
                yield Step("kernels of cuda", partial(testing.pytest, kernels, env=compiled))
    # Other stages build the wheels of Windows and of Arm.
    mac = "macosx_11_0_arm64"
    yield Step("ferrule for macOS", partial(wheels.core, mac))
    yield Step("metal for macOS", partial(wheels.of_backend, "metal", mac))
    yield Step("checks", wheels.check)
    yield Step("unpack", wheels.unpack)
    yield Step("tests", lambda: wheels.tests(*choice.stop_early()))
    yield Step("kit on every variant", wheels.kit)


def of_backend(name: str, targets: tuple[str, ...], *chosen: str) -> Callable[[Choice], Iterator[Step]]:
    """The stage of a backend: `targets` are programs of build/backends, `chosen` is what ctest runs of them."""

    def stage(choice: Choice) -> Iterator[Step]:
        module = backends.module_in("backends", name)
        yield Step("prepare", testing.prepare)
        yield Step("module", lambda: backends.module(name))
        kit = (*choice.ops(), *choice.stop_early())
        yield Step("kit", lambda: backends.kit(name, module, *kit))
        files = choice.files(backends.FOLDER / name / "tests")
        yield Step("tests", lambda: backends.tests(name, module, *files, *choice.stop_early()))
        yield Step("demo", lambda: backends.demo(name, module))
        yield Step("C++ build", lambda: builds.compile("backends", *targets))
        yield Step("C++ tests", lambda: testing.ctest(ROOT / "build" / "backends", *chosen))

    return stage


def tidy(choice: Choice) -> Iterator[Step]:
    def prepare() -> None:
        backends.prepare()
        environment.require("build", "tidy")
        # What is generated is compiled into headers that the sources include.
        builds.compile("tidy", "ferrule_ops_header", "ferrule_op_samples", "ferrule_vulkan_shaders")

    program = (PYTHON, VENV / "bin" / "run-clang-tidy.py", "-quiet", "-p", ROOT / "build" / "tidy", "-j", str(CORES))
    yield Step("prepare", prepare)
    folders = ["bindings", "base|csrc/ops", "core", "module_file|csrc/probe|csrc/manifest|csrc/conformance"]
    folders += [f"backends/{path.name}" for path in sorted(backends.FOLDER.iterdir())]
    if choice.commit:
        random.Random(choice.commit).shuffle(folders)
    for folder in folders:
        yield Step(f"csrc/{folder}", partial(run, *program, f"{ROOT}/(csrc/{folder})/"))
    yield Step("tests", lambda: run(*program, f"{ROOT}/tests/"))


# What each shows, for `./dev verify --list`.
SHOWS = {
    "address": "the core, bindings, CPU kernels and backends with address and undefined behaviour sanitizers",
    "thread": "the core and the backends with the thread sanitizer",
    "fuzz": "the readers of module files, manifests and options read random input",
    "static": "libferrule as an archive with its backends inside",
    "wheels": "the wheels of this system and of macOS by the release compiler, the sdist, the kit on every variant",
    "vulkan": "the Vulkan backend on lavapipe",
    "cuda": "the CUDA backend over the emulator",
    "metal": "the Metal backend over the simulated Metal",
    "wine": "programs, tests and wheels for Windows in wine",
    "qemu": "the wheel for 64-bit Arm in qemu, and programs with musl",
    "tidy": "clang-tidy on every source",
}
STAGES: dict[str, Callable[[Choice], Iterator[Step]]] = {
    "address": address,
    "thread": thread,
    "fuzz": fuzz,
    "static": static,
    "wheels": wheels_,
    "vulkan": of_backend("vulkan", ("ferrule-tests",), "-R", "Vulkan"),
    "cuda": of_backend("cuda", CUDA_CHECKS, "-R", r"^cuda\."),
    "metal": of_backend("metal", METAL_CHECKS, "-R", r"^metal\."),
    "wine": other_systems.wine,
    "qemu": other_systems.qemu,
    "tidy": tidy,
}
