"""The slow stages: each a list of steps, which `./dev verify` runs one after the other."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from tools import applications, backends, builds, environment, other_systems, sanitizers, testing, wheels
from tools.environment import PYTHON, VENV
from tools.process import CORES, ROOT, run
from tools.steps import Sample, Stage, Step

FUZZ_SECONDS = 20


def address(sample: Sample) -> Iterator[Step]:
    yield Step("build", lambda: sanitizers.build_address())
    yield Step("C++ tests", lambda: testing.ctest(sanitizers.ADDRESS))
    yield Step("Python tests", lambda: sanitizers.address_python(*sample.stop_early()))
    yield Step("kit", lambda: sanitizers.address_kit("--ferrule-level", "brief", *sample.ops(), *sample.stop_early()))
    layout = "float32 and (guards or shapes or layouts)"
    yield Step("kit of layouts", lambda: sanitizers.address_kit("-k", layout, *sample.ops(), *sample.stop_early()))
    for name in backends.names():
        yield Step(f"build of {name}", partial(sanitizers.build_backend, "asan", name))
        yield Step(f"kit on {name}", partial(sanitizers.address_backend, name))


def thread(sample: Sample) -> Iterator[Step]:
    yield Step("build", lambda: sanitizers.build_thread())
    yield Step("C++ tests", lambda: testing.ctest(sanitizers.THREAD, "-R", sanitizers.THREAD_TESTS))
    for name in backends.names():
        if backends.settings(name).thread_tests:
            yield Step(f"build of {name}", partial(sanitizers.build_backend, "tsan", name))
            yield Step(f"kit on {name}", partial(sanitizers.thread_kit, name))
            yield Step(f"tests of {name}", partial(sanitizers.thread_tests, name))
            targets, chosen = backends.settings(name).test_targets, backends.settings(name).ctest
            yield Step(f"build of C++ tests of {name}", partial(builds.compile, "tsan-backends", *targets))
            folder = ROOT / "build" / "tsan-backends"
            yield Step(f"C++ tests of {name}", partial(testing.ctest, folder, "-R", chosen))


def fuzz(sample: Sample) -> Iterator[Step]:
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


def static(sample: Sample) -> Iterator[Step]:
    yield Step("prepare", environment.system)
    yield Step("build", lambda: builds.compile("static"))
    yield Step("C++ tests", lambda: testing.ctest(ROOT / "build" / "static"))


def wheels_of_systems(sample: Sample) -> Iterator[Step]:
    # Code for the oldest and for the most special GPU: nvcc takes far longer for all seven.
    os.environ.setdefault("FERRULE_BUILD_CUDA_ARCHITECTURES", "75 90a")
    yield Step("prepare", wheels.prepare)
    yield Step("ferrule", lambda: wheels.core(wheels.THIS_PLATFORM))
    for name in backends.names():
        if wheels.THIS_PLATFORM in backends.settings(name).platforms:
            yield Step(name, partial(wheels.of_backend, name, wheels.THIS_PLATFORM))
            if tests := backends.settings(name).wheel_build_tests:
                required = {"FERRULE_REQUIRE_FAT_BINARIES": "1"}
                yield Step(f"kernels of {name}", partial(testing.pytest, backends.FOLDER / name / tests, env=required))
    # Other stages build the wheels of Windows and of Arm.
    mac = "macosx_11_0_arm64"
    yield Step("ferrule for macOS", partial(wheels.core, mac))
    yield Step("metal for macOS", partial(wheels.of_backend, "metal", mac))
    yield Step("checks", wheels.check)
    yield Step("unpack", wheels.unpack)
    yield Step("tests", lambda: wheels.tests(*sample.stop_early()))
    yield Step("kit on every variant", wheels.kit)


def of_backend(name: str) -> Stage:
    own = backends.settings(name)

    def steps(sample: Sample) -> Iterator[Step]:
        module = backends.module_in("backends", name)
        yield Step("prepare", testing.prepare)
        yield Step("module", lambda: backends.module(name))
        kit = (*sample.ops(), *sample.stop_early())
        yield Step("kit", lambda: backends.kit(name, module, *kit))
        files = sample.shuffled(sorted((backends.FOLDER / name / "tests").rglob("test_*.py")))
        yield Step("tests", lambda: backends.tests(name, module, *files, *sample.stop_early()))
        yield Step("model of the demo", partial(applications.prepare, applications.MODEL))
        yield Step("demo", lambda: backends.demo(name, module))
        yield Step("C++ build", lambda: builds.compile("backends", *own.test_targets))
        yield Step("C++ tests", lambda: testing.ctest(ROOT / "build" / "backends", "-R", own.ctest))

    return Stage(name, own.shows, own.sources, steps)


def tidy(sample: Sample) -> Iterator[Step]:
    commands = ROOT / "build" / "tidy-commands"

    def prepare() -> None:
        backends.prepare()
        environment.require("build", "tidy")
        # Generated headers, which the sources include, are built first.
        builds.compile("tidy", "ferrule_ops_header", "ferrule_op_samples", "ferrule_vulkan_shaders")
        # clang-tidy reads a source once for each of its commands; kernels have one for each variant of the CPU module.
        # Those with the least and the most instructions take both sides of most conditions.
        left_out = re.compile(r"-DFERRULE_CPU_VARIANT=(?!(x64|sapphirerapids)\b)")
        every = json.loads((ROOT / "build/tidy/compile_commands.json").read_text())
        commands.mkdir(exist_ok=True)
        kept = [command for command in every if not left_out.search(command["command"])]
        (commands / "compile_commands.json").write_text(json.dumps(kept))

    tools = VENV / "bin"
    program: tuple[str | Path, ...] = (PYTHON, tools / "run-clang-tidy.py", "-clang-tidy-binary", tools / "clang-tidy")
    program += ("-quiet", "-p", commands, "-j", str(CORES))
    yield Step("prepare", prepare)
    csrc = ROOT / "csrc"
    folders = [path for path in csrc.iterdir() if path.is_dir() and path.name != "backends"]
    for folder in sample.shuffled(sorted([*folders, *backends.FOLDER.iterdir()])):
        if any(path.suffix in (".c", ".cpp", ".mm") for path in folder.rglob("*")):
            yield Step(f"{folder.relative_to(ROOT)}", partial(run, *program, f"{folder}/"))
    yield Step("tests", lambda: run(*program, f"{ROOT}/tests/"))


def faults(sample: Sample) -> Iterator[Step]:
    from tests.mutation.faults import FAULTS

    def catch(*words: str) -> None:
        run(PYTHON, "-m", "tests.mutation", *words)

    yield Step("prepare", lambda: testing.prepare(with_tests=True))
    kernels = sorted({Path(fault.kernel) for fault in FAULTS})
    for kernel in map(str, sample.shuffled(kernels)):
        yield Step(f"kernel {kernel}", partial(catch, kernel))
    yield Step("core", partial(catch, "--core"))
    for name in backends.names():
        if (backends.FOLDER / name / "tests" / "mutation.toml").exists():
            yield Step(f"prepare {name}", partial(backends.module, name))
            yield Step(name, partial(catch, "--planted", name))


STAGES = [
    Stage(
        "address",
        "the core, bindings, CPU kernels and backends with address and undefined behaviour sanitizers",
        "csrc/(core|bindings|sdk|module_file|probe|backends/(cpu|null))/",
        address,
    ),
    Stage(
        "thread",
        "the core and the backends with the thread sanitizer",
        "csrc/(bindings|core/(threads|executor|sync|lazy|memory|registry|loader|cache|trace))/",
        thread,
    ),
    Stage(
        "fuzz",
        "the readers of module files and manifests read random input",
        "csrc/(module_file|manifest|core/loader/candidate)/|tests/fuzz/",
        fuzz,
    ),
    Stage(
        "static",
        "libferrule as an archive with its backends inside",
        "cmake/|CMakeLists|csrc/backends/(cpu|null)/|tests/(c|foreign)/",
        static,
    ),
    Stage(
        "wheels",
        "the wheels of this system and of macOS by the release compiler, the sdist, the kit on every variant",
        "wheels/|cmake/|pyproject|licenses/|tests/wheels/|tools/wheels",
        wheels_of_systems,
    ),
    *(of_backend(name) for name in backends.names()),
    Stage(
        "wine",
        "programs, tests and wheels for Windows in wine",
        "csrc/(windows|probe|module_file|core/(platform|loader))/|cmake/|tests/ports/.*windows",
        other_systems.wine,
    ),
    Stage(
        "qemu",
        "the wheel for 64-bit Arm in qemu, and programs with musl",
        "aarch64|arm|csrc/(probe|core/platform)/|cmake/|tests/ports/",
        other_systems.qemu,
    ),
    Stage(
        "faults",
        "planted faults, each of which the kit or a test must catch",
        "tests/mutation|/mutation\\.toml$|python/ferrule/testing/",
        faults,
    ),
    Stage("tidy", "clang-tidy on every source", r"\.(c|cpp|h|hpp)$|\.clang-tidy$", tidy),
]
