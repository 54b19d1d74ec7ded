"""The process in which the doctor loads modules and tests devices."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import ferrule as fe
from ferrule.tools.child.serve import Reply, Send, serve
from ferrule.tools.doctor.measure import measure


class _Warnings(logging.Handler):
    """Collects what is logged as a warning."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.sentences: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.sentences.append(record.getMessage())


class Worker:
    def __init__(self, send: Send) -> None:
        self._send = send

    def at(self, text: str) -> None:
        self._send({"at": text})

    def answer(self, request: dict[str, Any]) -> Reply:
        known: dict[str, Callable[..., Reply]] = {"load": self._load, "measure": self._measure}
        return known[request.pop("do")](**request)

    def _load(self, reprobe: bool, names: list[str]) -> Reply:
        self.at("loading")
        warnings = _Warnings()
        logging.getLogger("ferrule").addHandler(warnings)
        report = fe.load_all(reprobe=reprobe)
        self.at("listing the devices")
        devices = [describe(device) for device in fe.devices(unified=False)]
        self.at("looking for what was asked for")
        asked = {name: self._find(name) for name in names}
        return {"report": report.to_dict(), "devices": devices, "asked": asked, "warnings": warnings.sentences}

    @staticmethod
    def _find(name: str) -> Reply:
        """Return the device of a name, or the reason why there is none."""
        try:
            return {"device": fe.device(name).name, "why": ""}
        except fe.Error:
            return {"device": "", "why": fe.explain(name)}

    def _measure(self, device: str, backend: str) -> Reply:
        self.at("loading")
        fe.load_all()
        return measure(fe.device(device, backend=backend), self.at)


def describe(device: Any) -> Reply:
    """Return the properties of a device that are known without opening it."""
    info = device.info
    free, total = device.memory
    return {
        "name": device.name,
        "kind": device.kind,
        "description": str(info.get("description") or ""),
        "detail": str(info.get("detail") or ""),
        "backend": device.backend.name,
        "backends": [backend.name for backend in device.backends],
        "module": str(device.backend.path),
        "variant": device.backend.variant,
        "version": device.backend.version,
        "uuid": str(info.get("uuid") or ""),
        "pci_address": str(info.get("pci_address") or ""),
        "free": free,
        "total": total,
    }


if __name__ == "__main__":
    serve(lambda send: Worker(send).answer, with_traces=False)
