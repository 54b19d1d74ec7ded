"""Modules and cores of different minor versions: the promises of docs/abi.md, tested with two future minors.

    python3 tests/skew/test_skew.py <folder to build in> [unittest's arguments]

With ccache, files of the two trees whose headers are equal are compiled once.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
import make_tree  # noqa: E402

# The reader of snapshots alone, because the package around it needs the extension.
ferrule = types.ModuleType("ferrule")
ferrule.__path__ = [str(HERE.parents[1] / "python/ferrule")]
sys.modules["ferrule"] = ferrule
from ferrule.tools.abi_diff import abi_diff, is_compatible  # noqa: E402

OLD, NEW = "1.0", "1.1"
WRONG = {
    "inserted": "fe_backend: slot 'device_count' moved from 48 to 56 (incompatible)",
    "resigned": "fe_backend: slot 'device_count' was 'uint32_t (fe_module_backend *backend)' and is "
    "'uint32_t (fe_module_backend *backend, int all)' (incompatible)",
    "removed": "fe_device_properties: slot 'max_allocation' is gone (incompatible)",
}
work = Path(tempfile.gettempdir())  # the build folder; main() sets it


def setUpModule() -> None:
    for interface in (OLD, NEW, *WRONG):
        subprocess.run([sys.executable, str(HERE / "make_tree.py"), interface, str(work / interface)], check=True)
    for interface in (OLD, NEW):
        build(work / interface)
    for interface in WRONG:
        build_refused(work / interface)


def build(tree: Path) -> None:
    settings = {
        "CMAKE_BUILD_TYPE": "Debug",
        "CMAKE_C_FLAGS_DEBUG": "-O0",
        "CMAKE_CXX_FLAGS_DEBUG": "-O0",
        "FERRULE_BUILD_TESTS": "OFF",
        "FERRULE_INSTALL": "OFF",
        "CMAKE_UNITY_BUILD_BATCH_SIZE": "24",
    }
    if shutil.which("clang") and shutil.which("clang++"):  # takes two thirds of g++'s time
        settings |= {"CMAKE_C_COMPILER": "clang", "CMAKE_CXX_COMPILER": "clang++"}
    definitions = [f"-D{name}={value}" for name, value in settings.items()]
    # Both trees have paths of equal length, so that ccache recognises unchanged files.
    folder = tree / "build/skew"
    run("cmake", "-G", "Ninja", "-S", tree, "-B", folder, *definitions)
    run("cmake", "--build", folder, "--target", "ferrule", "ferrule-skewed", "ferrule-other", "skew-run")


def build_refused(tree: Path) -> None:
    folder = tree / "modules"
    folder.mkdir(exist_ok=True)
    module = folder / "libferrule-refused.so"
    run("cc", "-shared", "-fPIC", f"-I{tree / 'csrc/sdk'}", HERE / "refused.c", "-o", module)


def run(*command: str | Path) -> None:
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{result.stdout[-4000:]}\n{result.stderr[-4000:]}")


def built(interface: str) -> Path:
    return work / interface / "build/skew/csrc/backends/skewed"


class Skew(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="skew-"))
        self.addCleanup(shutil.rmtree, self.folder)

    def put(self, name: str, interface: str) -> None:
        """Copies a module and its manifest into the folder that is loaded."""
        for suffix in (".so", ".json"):
            file = built(interface).rglob(f"libferrule-{name}{suffix}")
            shutil.copy2(next(file), self.folder)

    def run_core(self, interface: str, *computations: tuple[str, str, str]) -> dict[str, Any]:
        options = json.dumps({"dirs": [str(self.folder)]})
        words = [word for computation in computations for word in computation]
        environment = os.environ | {
            "FERRULE_PROBE": "never",
            "FERRULE_TRUST": "any",
            "FERRULE_CACHE_DIR": str(self.folder / "cache"),
            "SKEW_MARKS": str(self.folder / "marks"),
        }
        command = [str(built(interface) / "skew-run"), options, *words]
        result = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert result.returncode == 0, result.stderr[-4000:]
        answer: dict[str, Any] = json.loads(result.stdout)
        return answer

    def check_facts(self, answer: dict[str, Any], name: str, description: str, version: str) -> None:
        [row] = answer["report"]["candidates"]
        assert (row["state"], row["reason"]) == ("loaded", "")
        [device] = answer["devices"]
        assert name in json.dumps(device["info"])
        assert description in json.dumps(device["info"])
        assert device["backend"]["version"] == version, device

    def check_values(self, answer: dict[str, Any], *wanted: list[float]) -> None:
        assert [computed.get("values", computed) for computed in answer["computed"]] == [*wanted]
        for computed in answer["computed"]:
            assert {node["device"] for node in computed["placement"]["nodes"]} == {"skewed:0"}, computed


PLAIN = (("skewed", "sqrt", ""), ("skewed", "negative", ""))
ROOTS, NEGATIVES = [1, 2, 3], [-1, -4, -9]


class TwoMinors(Skew):
    def test_core_accepts_a_module_of_its_own_minor(self) -> None:
        self.put("skewed", NEW)
        young = (("skewed", "sqrt", "scale=2"), ("skewed", "negative", "bias=5"))
        answer = self.run_core(NEW, *PLAIN, *young)
        self.check_facts(answer, '"nick"', "core_minor is 1", "0.1, young")
        self.check_values(answer, ROOTS, NEGATIVES, [2, 4, 6], [4, 1, -4])

    def test_new_core_accepts_an_old_module(self) -> None:
        self.put("skewed", OLD)
        answer = self.run_core(NEW, *PLAIN)
        self.check_facts(answer, '"plain"', "built without core_minor", "0.1")
        self.check_values(answer, ROOTS, NEGATIVES)

    def test_old_core_accepts_a_new_module(self) -> None:
        self.put("skewed", NEW)
        answer = self.run_core(OLD, *PLAIN)
        self.check_facts(answer, '"plain"', "the core has no core_minor", "0.1")
        self.check_values(answer, ROOTS, NEGATIVES)

    def test_old_core_accepts_an_old_module(self) -> None:
        self.put("skewed", OLD)
        answer = self.run_core(OLD, *PLAIN)
        self.check_facts(answer, '"plain"', "built without core_minor", "0.1")
        self.check_values(answer, ROOTS, NEGATIVES)


class NewerOpRevisions(Skew):
    def test_newer_op_is_decomposed_into_known_ops(self) -> None:
        self.put("skewed", OLD)
        self.check_values(self.run_core(NEW, ("skewed", "negative", "bias=5")), [4, 1, -4])

    def test_newer_op_runs_on_a_device_that_knows_it(self) -> None:
        self.put("skewed", OLD)
        self.put("other", NEW)
        [computed] = self.run_core(NEW, ("skewed", "sqrt", "scale=2"))["computed"]
        assert computed.get("values") == [2, 4, 6], computed
        [node] = [node for node in computed["placement"]["nodes"] if node["op"] == "sqrt"]
        assert node["device"] == "other:0"
        assert "revision 2 is younger than this module, which knows up to 1" in node["reason"]

    def test_newer_op_is_unsupported_if_no_device_knows_it(self) -> None:
        self.put("skewed", OLD)
        [computed] = self.run_core(NEW, ("skewed", "sqrt", "scale=2"))["computed"]
        assert computed.get("code") == 2, computed  # FE_UNSUPPORTED
        assert "revision 2 is younger than this module, which knows up to 1" in computed["error"]

    def test_new_attribute_with_its_default_value_is_ignored(self) -> None:
        self.put("skewed", OLD)
        self.check_values(self.run_core(NEW, ("skewed", "sqrt", "scale=1")), ROOTS)


class IncompatibleModules(Skew):
    def test_incompatible_module_is_refused_before_any_of_its_code_runs(self) -> None:
        for interface in WRONG:
            for core in (OLD, NEW):
                with self.subTest(interface, core=core):
                    shutil.copy2(work / interface / "modules/libferrule-refused.so", self.folder)
                    [row] = self.run_core(core)["report"]["candidates"]
                    assert row["state"] == "incompatible", row
                    sentence = f"built for interface 1.1 by headers whose {core} differs from ours"
                    assert sentence in row["reason"], row
                    assert not (self.folder / "marks").exists()

    def test_incompatible_module_leaves_marks_when_it_is_opened(self) -> None:
        module = work / "inserted/modules/libferrule-refused.so"
        marks = self.folder / "marks"
        environment = os.environ | {"SKEW_MARKS": str(marks)}
        subprocess.run(
            [sys.executable, "-c", f"import ctypes; ctypes.CDLL({str(module)!r})"], env=environment, check=True
        )
        assert marks.read_text(encoding="utf-8") == "opened\n"

    def test_generator_refuses_incompatible_layouts(self) -> None:
        kept = (work / OLD / "snapshot.inc").read_bytes()
        for interface in (NEW, *WRONG):
            tree = self.folder / interface
            shutil.copytree(work / interface / "csrc/sdk", tree / "csrc/sdk")
            result = subprocess.run(
                [make_tree.print_layout(tree, kept), "hash"], capture_output=True, text=True, check=False
            )
            if interface == NEW:
                assert (result.returncode, result.stderr) == (0, "")
            else:
                assert result.returncode == 1, interface
                assert "the layout of interface 1.0 was changed: append behind FE_SINCE(1)" in result.stderr


class Snapshots(Skew):
    def test_slots_appended_by_a_minor_are_compatible(self) -> None:
        found = abi_diff(work / OLD / "snapshot.inc", work / NEW / "snapshot.inc")
        assert is_compatible(found), found
        sentences = {str(difference) for difference in found}
        assert "fe_host: 'core_minor' appended (compatible)" in sentences
        assert "fe_backend: 'motto' appended (compatible)" in sentences
        assert "fe_device_properties: 'nickname' appended (compatible)" in sentences
        assert "interface: 1.0 became 1.1 (compatible)" in sentences

    def test_incompatible_changes_are_named(self) -> None:
        for interface, sentence in WRONG.items():
            with self.subTest(interface):
                found = abi_diff(work / OLD / "snapshot.inc", work / interface / "snapshot.inc")
                assert not is_compatible(found)
                assert sentence in [str(difference) for difference in found]


if __name__ == "__main__":
    work = Path(sys.argv.pop(1)).resolve()
    unittest.main(verbosity=2)
