"""Drivers and loader libraries of Vulkan as nobody wants them, and how a process is made to meet them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "drivers"
MESA = next(iter(sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))), Path("/usr/share/vulkan/icd.d"))


def compile_library(source: str, to: Path, *definitions: str) -> Path:
    """A shared library of tests/vulkan/drivers."""
    launcher = ["ccache"] if shutil.which("ccache") else []
    flags = ["-std=gnu11", "-shared", "-fPIC", *(f"-D{definition}" for definition in definitions)]
    done = subprocess.run([*launcher, "cc", *flags, "-o", to, SOURCES / source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return to


@dataclass(frozen=True)
class Drivers:
    folder: Path

    def made(self, *definitions: str) -> Path:
        """The manifest of a driver from drivers/driver.c."""
        return self.manifest(compile_library("driver.c", self.folder / "libdriver.so", *definitions))

    def failing(self, function: str, first: int, count: int, result: int) -> dict[str, str]:
        """Variables with which some calls of a function come back with a VkResult; drivers/failing_layer.c does it."""
        library = compile_library("failing_layer.c", self.folder / "liblayer.so")
        name = "VK_LAYER_FERRULE_failing"
        layer = {
            "name": name,
            "type": "GLOBAL",
            "library_path": str(library),
            "api_version": "1.3.0",
            "implementation_version": "1",
            "description": "has a function of Vulkan fail",
        }
        layers = self.folder / "layers"
        layers.mkdir()
        (layers / "failing.json").write_text(json.dumps({"file_format_version": "1.1.2", "layer": layer}))
        return {
            "VK_LAYER_PATH": os.pathsep.join([str(layers), "/usr/share/vulkan/explicit_layer.d"]),
            "VK_INSTANCE_LAYERS": name,
            "VULKAN_FAULT": f"{function} {first} {count} {result}",
        }

    def manifest(self, library: Path) -> Path:
        manifest = library.with_suffix(".json")
        entry = {"library_path": str(library), "api_version": "1.3.0"}
        manifest.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": entry}))
        return manifest

    @staticmethod
    def only(*manifests: Path) -> dict[str, str]:
        """Variables with which these are all the drivers there are; both names, as loaders differ."""
        files = os.pathsep.join(map(str, manifests))
        return {"VK_ICD_FILENAMES": files, "VK_DRIVER_FILES": files}
