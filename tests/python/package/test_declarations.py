"""The reader of the C headers, whose output the layout hash and the snapshot of the interface are made of."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
READER = ROOT / "csrc" / "sdk" / "layout" / "read_declarations.py"


def read(folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, str(READER), str(folder)], capture_output=True, text=True)


def test_each_field_is_listed(tmp_path: Path) -> None:
    fields = "size_t struct_size; double real; /* a, b; */ int64_t shape[FE_MAX_RANK];"
    text = f"typedef struct fe_pair {{ {fields} }} fe_pair;\n"
    (tmp_path / "pair.h").write_text(text, encoding="utf-8")
    assert read(tmp_path).stdout.splitlines()[:3] == [
        "DECLARED_STRUCT(fe_pair)",
        'DECLARED_FIELD(fe_pair, real, "double")',
        'DECLARED_FIELD(fe_pair, shape, "int64_t[FE_MAX_RANK]")',
    ]


@pytest.mark.parametrize("field", ["double real, imaginary", "const char *name, *variant", "int32_t a, b, c"])
def test_two_fields_in_one_declaration_are_refused(field: str, tmp_path: Path) -> None:
    """The first of them would be in no snapshot."""
    (tmp_path / "pair.h").write_text(f"typedef struct fe_pair {{\n  {field};\n}} fe_pair;\n", encoding="utf-8")
    answer = read(tmp_path)
    assert answer.returncode == 1
    assert f"fe_pair: '{field}' is not a field of the form 'type name'" in answer.stderr
