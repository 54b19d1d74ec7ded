"""The hook by which PyInstaller packs ferrule into applications; an entry point of the package names its folder."""

from __future__ import annotations


def hook_folders() -> list[str]:
    """The folder of `hook-ferrule.py`, for the entry point `hook-dirs` of the group `pyinstaller40`."""
    return [__path__[0]]
