"""What is found, and what is said when nothing is."""

from __future__ import annotations

import json
from pathlib import Path

from program import Run

ROW = """
[row] = [row for row in fe.load_all().candidates if row.name == "vulkan"]
print(row.state, "|", row.reason)
"""


def test_a_software_device_is_listed_as_what_it_is_and_never_chosen(run: Run) -> None:
    program = """
fe.load_all()
device = fe.device("vulkan:0")
print(device.kind, fe.best_device().backend.name, fe.ones(3).device.backend.name)
"""
    kind, best, default = run(program).split()
    if kind == "software":
        assert (best, default) == ("cpu", "cpu")
    else:
        assert kind in ("gpu", "integrated_gpu", "accelerator")


def test_listing_devices_opens_none(run: Run) -> None:
    assert run('fe.load_all()\nprint([d.is_open for d in fe.devices() if d.backend.name == "vulkan"])') in (
        "[False]\n",
        "[False, False]\n",
    )


def test_without_a_driver_the_report_says_so(run: Run) -> None:
    state, reason = run(ROW, VK_ICD_FILENAMES="/nowhere/icd.json", VK_DRIVER_FILES="/nowhere/icd.json").split(" | ")
    assert state in ("no_device", "error", "incompatible")
    assert "Vulkan" in reason


def test_a_broken_driver_beside_a_good_one_does_no_harm(run: Run, tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    library = tmp_path / "libbroken.so"
    library.write_bytes(b"no library")
    broken.write_text(
        json.dumps({"file_format_version": "1.0.0", "ICD": {"library_path": str(library), "api_version": "1.3.0"}})
    )
    [good] = sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))[:1]
    files = f"{broken}:{good}"
    assert run(ROW, VK_ICD_FILENAMES=files, VK_DRIVER_FILES=files).startswith("loaded |")
