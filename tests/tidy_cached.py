"""`python tests/tidy_cached.py TIDY OUTPUT SOURCE [OPTIONS] -- FLAGS`: clang-tidy, unless the source has passed before.

A source has passed before if its preprocessed text (with comments and macros), its path, OPTIONS, .clang-tidy and the
version of clang-tidy are those of a pass that an empty file in ~/.cache/ferrule/tidy records. A clean clone therefore
checks only what changed. OUTPUT is touched at the end, and OUTPUT.d is a depfile for Ninja.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ferrule" / "tidy"
DAYS_KEPT = 30


def preprocessed(source: Path, output: Path, flags: list[str]) -> bytes:
    compiler = "clang" if source.suffix == ".c" else "clang++"
    command = [compiler, "-E", "-C", "-P", "-dD", "-MD", "-MF", f"{output}.d", "-MT", str(output), *flags, str(source)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout


def key_of(tidy: Path, source: Path, options: list[str], text: bytes) -> str:
    version = subprocess.run([tidy, "--version"], check=True, stdout=subprocess.PIPE).stdout
    key = hashlib.sha256()
    parts = [version, (ROOT / ".clang-tidy").read_bytes()]
    parts += [word.encode() for word in (str(source.relative_to(ROOT)), *options)]
    for part in (*parts, text.replace(str(ROOT).encode(), b"")):  # the same in every clone
        key.update(len(part).to_bytes(8, "little") + part)
    return key.hexdigest()


def forget_old_passes() -> None:
    """Remove the record of each pass that no run has used for DAYS_KEPT days."""
    CACHE.mkdir(parents=True, exist_ok=True)
    oldest = time.time() - DAYS_KEPT * 86400
    for path in CACHE.iterdir():
        if path.stat().st_mtime < oldest:
            path.unlink(missing_ok=True)


def main() -> int:
    end = sys.argv.index("--")
    tidy, output, source = map(Path, sys.argv[1:4])
    options = sys.argv[4:end]
    flags = sys.argv[end + 1 :]
    key = key_of(tidy, source, options, preprocessed(source, output, flags))
    if not (CACHE / key).exists():
        code = subprocess.run([tidy, "--quiet", *options, source, "--", *flags]).returncode
        if code != 0:
            return code
    (CACHE / key).touch()
    output.touch()
    return 0


if __name__ == "__main__":
    sys.exit(main())
