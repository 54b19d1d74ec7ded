"""The command `ferrule`, or `python -m ferrule`: without arguments it loads the backends and lists the devices.

Options print versions and folders; verbs run the tools of ferrule.tools.cli.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import ferrule
from ferrule.tools.cli import devices, doctor, explain, inspect, new_backend

CLOSED_PIPE = 128 + 13  # the status that shells report of programs that SIGPIPE ends
VERBS = (doctor, devices, explain, inspect, new_backend)


def main() -> int:
    try:
        try:
            return _run()
        finally:
            if sys.stdout is not None:  # while an error of a closed pipe can be caught
                sys.stdout.flush()
    except BrokenPipeError:  # of `ferrule doctor | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # takes what Python writes at its end
        return CLOSED_PIPE


def _run() -> int:
    parser = argparse.ArgumentParser(prog=_program(), description="What ferrule finds on this machine.")
    show = parser.add_mutually_exclusive_group()
    show.add_argument("--version", action="store_true", help="ferrule's version")
    show.add_argument("--cmake-dir", action="store_true", help="for find_package(ferrule): ferrule_DIR")
    show.add_argument("--backend-dir", action="store_true", help="the folder of the backends that came with ferrule")
    show.add_argument("--include-dir", action="store_true", help="the folder of the C headers")
    verbs = parser.add_subparsers(title="verbs", metavar="VERB")
    for verb in VERBS:
        verb.add_to(verbs)
    options = parser.parse_args()
    try:
        return int(options.run(options)) if "run" in options else _show(options)
    except ferrule.Error as error:
        print(f"{parser.prog}: {error}", file=sys.stderr)
        return 2


def _show(options: argparse.Namespace) -> int:
    root = Path(ferrule._ferrule.__file__ or "").parent
    if options.version:
        print(ferrule.__version__)
    elif options.cmake_dir:
        print(root / "lib" / "cmake" / "ferrule")
    elif options.backend_dir:
        print(root / "backends")
    elif options.include_dir:
        print(root / "include")
    else:
        print(f"ferrule {ferrule.__version__}")
        print(ferrule.load_all())
        for device in ferrule.devices():
            print(f"{device}: {device.kind}, {device.info.get('description', '')} ({device.backend.path})")
    return 0


def _program() -> str:
    """Return the name that the command was called by: `ferrule` is a script that pip creates."""
    name = os.path.basename(sys.argv[0])
    return "python -m ferrule" if name == "__main__.py" else name


if __name__ == "__main__":
    sys.exit(main())
