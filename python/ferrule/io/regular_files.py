"""Regular files: opened without waiting, as for a FIFO, and replaced as a whole."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

from ferrule.errors import Error, InvalidArgumentError, IoError

_KINDS = {
    stat.S_IFIFO: "a FIFO",
    stat.S_IFSOCK: "a socket",
    stat.S_IFCHR: "a device",
    stat.S_IFBLK: "a device",
}


def _refuse_special(path: Path, mode: int) -> None:
    """Raise an error unless it is the mode of a regular file."""
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(mode):
        raise IoError(f"{path} is {_KINDS.get(stat.S_IFMT(mode), 'something else')}, not a regular file")


def open_regular(path: Path) -> BinaryIO:
    """Open a file to read it, without a buffer."""
    try:
        _refuse_special(path, path.stat().st_mode)
    except ValueError as error:  # a zero byte, or a surrogate
        raise InvalidArgumentError(f"{str(path)!r} cannot be a path: {error}") from error
    file = open(path, "rb", buffering=0, opener=_open_without_waiting)  # noqa: SIM115  the caller closes it
    try:
        _refuse_special(path, os.fstat(file.fileno()).st_mode)  # it may have been replaced
    except BaseException:
        file.close()
        raise
    return file


def _open_without_waiting(path: str, flags: int) -> int:
    return os.open(path, flags | getattr(os, "O_NONBLOCK", 0))  # Windows has no such flag, and no FIFOs among files


def read_into(file: BinaryIO, path: Path, begin: int, memory: memoryview) -> None:
    """Fill memory with the bytes of the file from `begin` on."""
    done = 0
    try:
        file.seek(begin)
        while done < len(memory):
            count = file.readinto(memory[done:])  # type: ignore[attr-defined]
            if not count:
                raise IoError(
                    f"{path} ended at byte {begin + done}, when {len(memory)} bytes from byte {begin} on were read"
                )
            done += count
    except OSError as error:
        if isinstance(error, IoError):
            raise
        raise OSError(error.errno, error.strerror, str(path)) from error


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Open a new file beside `path`, which replaces the one of that name when all is written, and gets its mode."""
    try:
        if "\0" in str(path):  # which Windows reports only at the final rename
            raise ValueError("embedded null byte")
        target = Path(os.path.realpath(path))  # a link stays
        if target.is_symlink():
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path))
        beside = target.with_name(f".{secrets.token_hex(8)}.tmp")
    except ValueError as error:  # a zero byte, a surrogate, or no name
        raise InvalidArgumentError(f"{str(path)!r} cannot be the path of a file: {error}") from error
    try:
        mode = target.stat().st_mode if target.exists() else None
        if mode is not None:
            _refuse_special(path, mode)
        with beside.open("xb") as file:
            if mode is not None:
                beside.chmod(stat.S_IMODE(mode))
            yield file
            file.flush()
            os.fsync(file.fileno())
        beside.replace(target)
    except BaseException as error:
        beside.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, Error):
            raise OSError(error.errno, error.strerror, str(path)) from error
        raise
