"""What has been loaded so far, for the functions that find devices."""

from __future__ import annotations

from ferrule import _ferrule

is_complete = False  # load_all() has run, or FERRULE_AUTOLOAD=0
has_a_file = False  # load() was called: its backends are used without loading others
default_device: _ferrule.Device | None = None
changes = 0  # calls of changed()


def changed() -> None:
    """Note that backends were loaded or unloaded."""
    global default_device, changes
    changes += 1
    default_device = None


def loaded_a_file() -> None:
    """Note that a file was loaded by its path."""
    global has_a_file
    changed()
    has_a_file = True


def loaded_all() -> None:
    """Note that all backends were loaded, or that they must not be loaded automatically."""
    global is_complete
    changed()
    is_complete = True
