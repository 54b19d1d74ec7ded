"""The devices that are found, and the message if there are none."""

from __future__ import annotations

from collections.abc import Callable

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
