"""ferrule with the option `cublaslt` of the CUDA backend, for comparison with its own kernels."""

from __future__ import annotations

import logging
import os

import ferrule as fe
import numpy as np

from benchmarks.contenders import NotOfferedError
from benchmarks.devices import with_ferrule
from benchmarks.devices.cases import DeviceCase
from benchmarks.devices.contenders import Prepared
from benchmarks.devices.inputs import Inputs
from benchmarks.devices.with_ferrule import CUBLASLT


class Contender(with_ferrule.Contender):
    """Takes the library that the variable names, or else searches for it. Offers only products that it computes."""

    def __init__(self, device: str, uuid: str) -> None:
        wanted = os.environ.get(CUBLASLT, "0")
        super().__init__(device, uuid, cublaslt="1" if wanted == "0" else wanted)
        if not any(option["key"] == "cublaslt" for option in self.device.info["options"]):
            raise NotOfferedError(f"{self.device.name} has no option cublaslt")
        self.library = _line_about_library(self.device)
        if "are computed by" not in self.library:
            raise NotOfferedError(self.library)

    def describe(self) -> dict[str, str]:
        return {**super().describe(), "library": self.library}

    def prepare(self, case: DeviceCase, inputs: Inputs) -> Prepared:
        if case.op not in ("matmul", "product of weights") or case.blocks:
            raise NotOfferedError("cuBLASLt computes no part of it")
        return super().prepare(case, inputs)


def _line_about_library(device: fe.Device) -> str:
    """The line that the backend logs at the first product: which library it uses, or why there is none."""
    lines: list[str] = []

    class Kept(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    kept = Kept()
    logger = logging.getLogger("ferrule")
    logger.addHandler(kept)
    fe.set_log_level("info")
    try:
        x = fe.asarray(np.ones((16, 16), np.float32), device=device, copy=True)
        fe.eval(x)  # else the product may be computed when its graph is compiled
        fe.eval(fe.matmul(x, x))
        fe.eval(x + 1)  # lines of the log come with a later call
    finally:
        fe.set_log_level("warning")
        logger.removeHandler(kept)
    about = [line for line in lines if "are computed by" in line or "no cuBLASLt" in line]
    return about[0].removeprefix("cuda: ") if about else "the backend does not say which library it uses"
