"""The state of loading, for the functions that find devices."""

from __future__ import annotations

from ferrule import _ferrule

is_complete = False  # load_all() has run, or FERRULE_AUTOLOAD=0
best_device: _ferrule.Device | None = None  # the result of the last search
chosen_device: _ferrule.Device | None = None  # by set_default_device()
changes = 0  # calls of changed()


def changed() -> None:
    """Note that backends were loaded or unloaded."""
    global best_device, changes
    changes += 1
    best_device = None


def set_device(device: _ferrule.Device | None) -> None:
    """Set the default device; None is the best one."""
    global chosen_device
    chosen_device = device


def loaded_all() -> None:
    """Note that all backends were loaded, or that they must not be loaded automatically."""
    global is_complete
    changed()
    is_complete = True
