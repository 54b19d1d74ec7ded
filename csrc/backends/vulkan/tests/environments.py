"""Faulty Vulkan drivers and loader libraries, and the variables with which a process uses them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

SOURCES = Path(__file__).resolve().parent / "drivers"
MESA = next(iter(sorted(Path("/usr/share/vulkan/icd.d").glob("lvp_icd*.json"))), Path("/usr/share/vulkan/icd.d"))

EXPLICIT_LAYERS = Path("/usr/share/vulkan/explicit_layer.d")
VALIDATION = "VK_LAYER_KHRONOS_validation"
COMPUTING, COPYING = 0, 1  # the queue families of a card


def compile_library(source: str, to: Path, *definitions: str) -> Path:
    """Compiles a shared library from a source in `drivers`."""
    launcher = ["ccache"] if shutil.which("ccache") else []
    flags = ["-std=gnu11", "-shared", "-fPIC", "-pthread", *(f"-D{definition}" for definition in definitions)]
    done = subprocess.run([*launcher, "cc", *flags, "-o", to, SOURCES / source], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return to


@dataclass(frozen=True)
class Drivers:
    folder: Path

    def made(self, *definitions: str) -> Path:
        """Compiles a driver from drivers/driver.c, and returns its manifest."""
        return self.manifest(compile_library("driver.c", self.folder / "libdriver.so", *definitions))

    def failing(self, function: str, first: int, count: int, result: int, of_card: bool = False) -> dict[str, str]:
        """Variables with which some calls of a function return a VkResult, by drivers/failing_layer.c."""
        return {
            **(self.card() if of_card else {}),
            **self.layers("failing", VALIDATION, *(["card"] if of_card else [])),
            "VULKAN_FAULT": f"{function} {first} {count} {result}",
        }

    def card(self, computing_ms: int = 0, copying_ms: int = 0) -> dict[str, str]:
        """Variables with which a software driver is a card with queues that copy, by drivers/card_layer.c.

        Each submission takes the given time.
        """
        return {
            **self.layers(VALIDATION, "card"),
            "VULKAN_CARD_DELAYS": f"{computing_ms} {copying_ms}",
            "VULKAN_CARD_LOG": str(self.folder / "card.log"),
        }

    def submissions(self) -> list[int]:
        """The queue families of a card's submissions, in order."""
        return [int(line) for line in (self.folder / "card.log").read_text().split()]

    def layers(self, *names: str) -> dict[str, str]:
        """Variables that put layers between a program and the driver, the first next to the program.

        Some loaders use the order of the names, others the order in which they find the manifests.
        """
        folders = [EXPLICIT_LAYERS if name == VALIDATION else self.layer(name) for name in names]
        return {
            "VK_LAYER_PATH": os.pathsep.join(map(str, folders)),
            "VK_INSTANCE_LAYERS": os.pathsep.join(
                name if name == VALIDATION else f"VK_LAYER_FERRULE_{name}" for name in names
            ),
        }

    def layer(self, name: str) -> Path:
        """Compiles a layer, and returns the folder of its manifest."""
        library = compile_library(f"{name}_layer.c", self.folder / f"lib{name}.so")
        layer = {
            "name": f"VK_LAYER_FERRULE_{name}",
            "type": "GLOBAL",
            "library_path": str(library),
            "api_version": "1.3.0",
            "implementation_version": "1",
            "description": f"drivers/{name}_layer.c",
        }
        folder = self.folder / "layers" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "layer.json").write_text(json.dumps({"file_format_version": "1.1.2", "layer": layer}))
        return folder

    def manifest(self, library: Path) -> Path:
        manifest = library.with_suffix(".json")
        entry = {"library_path": str(library), "api_version": "1.3.0"}
        manifest.write_text(json.dumps({"file_format_version": "1.0.0", "ICD": entry}))
        return manifest

    @staticmethod
    def only(*manifests: Path) -> dict[str, str]:
        """Variables with which no other drivers exist; loaders differ in the name that they read."""
        files = os.pathsep.join(map(str, manifests))
        return {"VK_ICD_FILENAMES": files, "VK_DRIVER_FILES": files}
