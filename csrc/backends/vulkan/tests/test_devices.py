"""The devices that are found, and the message if there are none."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

Run = Callable[..., str]


def test_software_device_is_listed_as_such_and_never_the_default(run: Run) -> None:
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
    assert (
        run('fe.load_all()\nprint({d.info["open"] for d in fe.devices() if d.backend.name == "vulkan"})') == "{False}\n"
    )


def test_the_manifest_names_ops_that_exist(module: Path, run: Run) -> None:
    known = json.loads(run("import json; from ferrule.op_rows import OP_ROWS; print(json.dumps(list(OP_ROWS)))"))
    named = json.loads(module.with_suffix(".json").read_text())["ops"]
    assert set(named) <= set(known)
    assert {"add", "matmul", "frexp", "astype"} <= set(named)
