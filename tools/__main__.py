"""`./dev <verb>`: reads the command line."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from functools import partial

from tools import all_tests, applications, backends, builds, lint, testing, verify, wheels
from tools.process import CommandError, OutOfTimeError

EPILOG = """Each verb installs what it needs (on Debian as root; otherwise it prints the command), and can be run again
at any time. On two cores and an empty cache the first build takes 3 to 7 minutes."""


# The verbs whose arguments are those of another program.
PASSED_ON: dict[str, Callable[..., None]] = {}


def parser() -> argparse.ArgumentParser:
    top = argparse.ArgumentParser(prog="./dev", description="The commands for this tree.", epilog=EPILOG)
    verbs = top.add_subparsers(metavar="<verb>", required=True)

    def verb(name: str, function: Callable[..., None], text: str, rest: str = "") -> argparse.ArgumentParser:
        added = verbs.add_parser(name, help=f"{text}{f'; arguments go to {rest}' if rest else ''}", description=text)
        added.set_defaults(function=function)
        if rest:
            PASSED_ON[name] = function
        return added

    demo = "search Python's documentation with a real model; `./dev demo chat` asks a language model"
    verb("demo", applications.demo, demo, "the program in examples/")
    verb("build", builds.install, "build ferrule in build/dev and install it in .venv")
    parts = "C++, Python, kit, hostile modules, a language model, lint"
    test = verb("test", all_tests.test, f"all tests of the core and of the CPU: {parts}")
    test.add_argument("--all", action="store_true", help="then every stage of `verify` (3 to 5 hours)")
    verb("unit", testing.unit, "the C and C++ tests, such as `./dev unit -R Loader`", "ctest")
    verb("pytest", testing.python, "the Python tests, such as `./dev pytest python/io/test_dlpack.py`", "pytest")
    verb("kit", testing.kit, "the conformance kit on the CPU, such as `./dev kit -k softmax`", "pytest")
    verb("hostile", testing.hostile, "tests with modules that crash, hang and lie", "pytest")
    verb("backend", backends.backend, "a backend with a wheel of its own: `./dev backend vulkan -k softmax`", "the kit")
    verb("bench", applications.bench, "ferrule beside its peers, as a table and JSON", "python -m benchmarks")
    fix = verb("lint", lint.lint, "clang-format, ruff, mypy, generated files")
    fix.add_argument("--fix", action="store_true", help="format, and regenerate the checked-in files")
    slow = verb("verify", verify.verify, "the slow stages, each whole and resumable; --list names them")
    slow.add_argument("stages", nargs="*", metavar="stage")
    slow.add_argument("--list", action="store_true", help="name the stages, and what has passed on this tree")
    slow.add_argument(
        "--one", type=float, metavar="MINUTES", help="one stage for so long: the first named, or as the changes choose"
    )
    named = verb("wheels", wheels.wheels, "the wheels of this system, or of given platforms, in dist/")
    named.add_argument("platforms", nargs="*", metavar="platform", help="such as win_amd64, or all")
    verb("clean", wheels.clean, "remove build/, dist/ and .venv, with all that was built and installed")
    return top


def main() -> int:
    top = parser()
    name, *rest = sys.argv[1:] or ["--help"]
    if name in PASSED_ON and rest[:1] != ["--help"]:  # argparse would take options among them for its own
        call = partial(PASSED_ON[name], *rest)
    else:
        options = vars(top.parse_args([name, *rest]))
        call = partial(options.pop("function"), **options)
    begin = time.monotonic()
    try:
        call()
    except CommandError as failure:
        print(f"./dev: {failure}", file=sys.stderr)
        return failure.status
    except OutOfTimeError as late:
        print(f"./dev: no time was left for: {late}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    finally:
        print(f"-- {time.monotonic() - begin:.0f} s", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
