"""What was loaded so far, for the functions that find devices."""

from __future__ import annotations

from ferrule import _ferrule

is_complete = False  # load_all has looked for what there is, or is not wanted
has_a_file = False  # load was called: what it loaded is used without looking for the rest
default_device: _ferrule.Device | None = None
changes = 0  # calls of changed()


def changed() -> None:
    """Backends came or went."""
    global default_device, changes
    changes += 1
    default_device = None


def loaded_a_file() -> None:
    """One file was loaded by its path."""
    global has_a_file
    changed()
    has_a_file = True


def loaded_all() -> None:
    """What there is was loaded, or is not wanted."""
    global is_complete
    changed()
    is_complete = True
