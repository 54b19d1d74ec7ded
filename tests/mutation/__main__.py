"""Mutation tests: plants one fault at a time in copies of the tree, and shows which ones the kit and the tests catch:

    .venv/bin/python -m tests.mutation [kernel ...]       # faults in the kernels of the host's module (faults.py)
    .venv/bin/python -m tests.mutation --core [word ...]  # in the waits and errors of the core (core_faults.py)
    .venv/bin/python -m tests.mutation --planted cuda     # of a backend's tests/mutation.toml
    .venv/bin/python -m tests.mutation --generate cpu normalization/softmax.cpp softmax log_softmax

Works in build/mutation; needs ferrule installed (`./dev build`). docs/develop/kit.md explains the tables. The
exit status is the number of faults that no test caught, at most 100.
"""

from __future__ import annotations

import argparse
import sys

from ferrule.testing.running.target import runnable_variants
from rich.console import Console

from . import generated_faults, handwritten_faults, planted_faults
from .backends import BACKENDS


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutation", description="Are these faults caught?")
    parser.add_argument("words", nargs="*", help="only these kernels, or faults with these words")
    parser.add_argument("--core", action="store_true", help="faults of the core")
    parser.add_argument(
        "--planted",
        choices=[backend.name for backend in BACKENDS.values() if backend.faults],
        help="faults of this backend",
    )
    parser.add_argument(
        "--generate",
        choices=list(BACKENDS),
        help="make faults in a kernel file of this backend; the words are the file and its ops",
    )
    parser.add_argument("--level", default="quick", choices=["quick", "full"], help="of the kit")
    parser.add_argument("--variant", help="of the host's module; by default the widest that runs here")
    parser.add_argument("--count", type=int, default=20, help="generated: how many (20)")
    parser.add_argument("--seed", type=int, default=0, help="generated: which (0)")
    options = parser.parse_args()
    console = Console(width=None if sys.stdout.isatty() else 160)
    variant = options.variant or runnable_variants()[0]
    if options.generate:
        if len(options.words) < 2:
            parser.error("--generate needs a kernel file and its ops")
        backend, (file, *ops) = BACKENDS[options.generate], options.words
        missed = generated_faults.run(backend, file, ops, options.count, options.seed, options.level, variant, console)
    elif options.core:
        missed = handwritten_faults.run_core(options.words, console)
    elif options.planted:
        missed = planted_faults.run(BACKENDS[options.planted], options.words, console)
    else:
        missed = handwritten_faults.run(options.words, options.level, variant, console)
    return min(missed, 100)


if __name__ == "__main__":
    sys.exit(main())
