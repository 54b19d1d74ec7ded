"""The faults of tests/mutation can be made in today's sources, and name what must catch them."""

from __future__ import annotations

from pathlib import Path

from ferrule.op_rows import OP_ROWS

from tests.mutation.backends import BACKENDS, HOST
from tests.mutation.core_faults import CORE_FAULTS
from tests.mutation.faults import FAULTS
from tests.mutation.generated_faults import faults_of
from tests.mutation.planted_faults import PlantedFault, faults_of as planted_faults_of
from tests.python.each import each

ROOT = Path(__file__).resolve().parents[3]
KERNELS = ROOT / HOST.kernels


def test_faults_of_kernels_match_the_files() -> None:
    for fault in FAULTS:
        assert (KERNELS / fault.file).read_text().count(fault.before) == 1, fault
        assert fault.kernel in OP_ROWS, fault


def test_faults_of_the_core_match_the_files_and_their_tests_exist() -> None:
    for fault in CORE_FAULTS:
        assert (ROOT / "csrc/core" / fault.file).read_text().count(fault.before) == 1, fault
        file, _, name = fault.test.partition("::")
        if name:
            assert f"def {name}(" in (ROOT / "tests/python" / file).read_text(), fault
        else:
            sources = (path.read_text() for path in (ROOT / "tests/cpp/executor").glob("*_test.cpp"))
            assert any(fault.test.strip("*") in source for source in sources), fault


@each(("folder", "fault"), [(b.folder, fault) for b in BACKENDS.values() for fault in planted_faults_of(b)])
def test_planted_fault_can_be_made_and_names_its_check(folder: str, fault: PlantedFault) -> None:
    assert (ROOT / folder / fault.file).read_text().count(fault.before) == 1
    assert fault.after != fault.before
    assert (fault.kit == "") != (fault.test == "")
    file, _, name = fault.test.partition("::")
    assert name == "" or f"def {name.partition('[')[0]}(" in (ROOT / folder / "tests" / file).read_text()
    assert (ROOT / folder / "tests" / file).exists()
    assert fault.unit == "" or (ROOT / folder / "kernels" / fault.unit).is_file()


def test_generated_faults_change_one_line_of_code() -> None:
    text = (KERNELS / "reduce.h").read_text()
    lines, faults = text.splitlines(), list(faults_of(text))
    assert len(faults) > 100
    for fault in faults:
        assert lines[fault.line - 1] == fault.before != fault.after
        assert not fault.before.lstrip().startswith(("//", "#"))
