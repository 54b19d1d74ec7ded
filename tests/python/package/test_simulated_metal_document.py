"""docs/emulator_metal_device.md: its variables, errors and functions are those of the simulated Metal."""

from __future__ import annotations

import re

from installed import ROOT

PAGE = (ROOT / "docs" / "emulator_metal_device.md").read_text(encoding="utf-8")
METAL = ROOT / "tests" / "emulation" / "metal"
SOURCES = "".join(
    path.read_text(encoding="utf-8")
    for folder in ("objc", "simulated")
    for path in sorted((METAL / folder).glob("*.cpp"))
)


def test_the_variables_are_those_that_are_read() -> None:
    read = set(re.findall(r'"(FERRULE_EMULATION_\w+)"', SOURCES))
    assert len(read) > 15
    rows = re.findall(r"^\| (`FERRULE_EMULATION_.*?) \|", PAGE, re.MULTILINE)
    named = set(re.findall(r"`(FERRULE_\w+)`", " ".join(rows)))
    named |= {"FERRULE_EMULATION_METAL_" + end for end in re.findall(r"`\.\.\._(\w+)`", " ".join(rows))}
    assert named == read


def test_the_errors_of_command_buffers_are_those_of_the_table() -> None:
    errors = set(re.findall(r'\{"(\w+)", CommandBufferError::', SOURCES))
    [row] = re.findall(r"^\| `FERRULE_EMULATION_METAL_FAULT` \|.*$", PAGE, re.MULTILINE)
    assert "device_removed" in errors
    assert set(re.findall(r"`([a-z_]+)`", row)) == errors


def test_the_functions_are_exported() -> None:
    exported = set(re.findall(r"^SIMULATED_EXPORT [\w:*& ]*?(\w+)\(", SOURCES, re.MULTILINE))
    rows = re.findall(r"^\| (?:the runtime|blocks|Metal) \| (.*) \|$", PAGE, re.MULTILINE)
    named = set(re.findall(r"`(_?(?:objc_|sel_|object_|class_|Block_|MTL)\w+)`", " ".join(rows)))
    assert {"sel_registerName", "MTLCopyAllDevices"} <= named
    # objc_msgSend and its forms are written in assembly.
    assert {name for name in named if not name.startswith("objc_msgSend")} == {
        name for name in exported if not name.startswith("simulated_metal_")
    }
