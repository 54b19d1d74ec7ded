"""`fe.explain`: one sentence on why a backend is available or not."""

from __future__ import annotations

import platform
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
Put = Callable[..., Path]


def explained(run_python: Run, name: str, before: str = "", **variables: object) -> str:
    code = f"import ferrule as fe\n{before}\nprint(fe.explain({name!r}))"
    lines: list[str] = run_python(code, **variables).stdout.splitlines()
    assert len(lines) == 1, "one sentence"
    return lines[0]


def test_explain_loads_if_nothing_is_loaded(run_python: Run) -> None:
    text = explained(run_python, "CPU")
    assert text.startswith("cpu: it is loaded from ")
    assert text.endswith(", and drives cpu:0.")


def test_explain_uses_the_last_load(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    module = put_module(tmp_path / "modules", "t_mine", driver=["libno_such_driver.so.9"])
    text = explained(run_python, "t_mine", f"fe.load_all(dirs=[{str(module.parent)!r}])")
    why = "it cannot run here: its driver's library libno_such_driver.so.9 is not on this machine"
    assert text == f"t_mine: {module} is there, but {why}."
    assert explained(run_python, "t_mine").startswith("t_mine: no module of that name was found in ")


def test_disabled_backend_is_explained_with_the_variable(run_python: Run) -> None:
    assert "it is switched off: FERRULE_DISABLE names it" in explained(run_python, "cpu", FERRULE_DISABLE="cpu")


def test_an_unmet_requirement_is_explained_afterwards(run_python: Run) -> None:
    before = "try: fe.load_all(require='t_nobody')\nexcept fe.LoadError: pass"
    assert explained(run_python, "t_nobody", before).startswith("t_nobody: no module of that name was found in ")


def test_unknown_name_is_explained_with_what_to_install(run_python: Run, tmp_path: Path) -> None:
    distribution = tmp_path / "site" / "ferrule-9.dist-info"
    distribution.mkdir(parents=True)
    mine, here = f"sys_platform == '{sys.platform}'", f"platform_machine == '{platform.machine()}'"
    (distribution / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: ferrule\nVersion: 9\nProvides-Extra: cuda\nProvides-Extra: testing\n"
        "Requires-Dist: ferrule-metal==9; sys_platform == 'darwin' and extra == 'metal'\nProvides-Extra: metal\n"
        f"Requires-Dist: ferrule-t_here==9; {mine} and {here} and extra == 't_here'\nProvides-Extra: t_here\n"
        f"Requires-Dist: ferrule-t_there==9; {mine} and platform_machine == 'z80' and extra == 't_there'\n"
        "Provides-Extra: t_there\n"
    )
    before = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})"
    assert explained(run_python, "cuda", before).endswith(" Install it: pip install 'ferrule[cuda]'")
    assert explained(run_python, "cudda", before).endswith(" Did you mean 'cuda'?")
    assert "pip" not in explained(run_python, "testing", before)
    assert explained(run_python, "metal", before).endswith(" It is for another system (darwin).")
    assert explained(run_python, "t_here", before).endswith(" Install it: pip install 'ferrule[t_here]'")
    assert explained(run_python, "t_there", before).endswith(f" It is for another system ({sys.platform} z80).")


def test_the_version_comes_from_the_distribution_that_installed_the_file(
    run_python: Run, put_module: Put, tmp_path: Path
) -> None:
    site = tmp_path / "site"
    module = put_module(site / "ferrule_backends" / "t_gpu", "t_gpu", driver=["libno_such_driver.so.9"])
    (site / "ferrule_t_gpu-0.3.dist-info").mkdir()
    (site / "ferrule_t_gpu-0.3.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: ferrule-t_gpu\nVersion: 0.3\n"
    )
    before = f"import sys; sys.path.insert(0, {str(site)!r}); fe.load_all(dirs=[{str(module.parent)!r}])"
    text = explained(run_python, "t_gpu", before)
    assert text.startswith(f"t_gpu: ferrule-t_gpu 0.3 is installed ({module}), but it cannot run here: ")


def test_a_kind_of_device_is_explained_by_its_devices(run_python: Run, null_module: Path) -> None:
    assert explained(run_python, "gpu") == "gpu: no loaded backend drives such a device; loaded is cpu."
    assert explained(run_python, "test", f"fe.load({str(null_module)!r})") == "test: there is null:0 (null)."


def test_a_missing_kind_of_device_is_explained_by_its_modules(run_python: Run, put_module: Put, tmp_path: Path) -> None:
    driver = {"library": "libno_such_driver.so.9", "title": "T driver"}
    module = put_module(tmp_path / "modules", "t_gpu", device_kinds=["gpu"], driver=[driver])
    why = "the T driver is not installed: libno_such_driver.so.9 was not found"
    text = explained(run_python, "gpu", FERRULE_BACKEND_DIR=module.parent)
    begin = "gpu: no loaded backend drives such a device; loaded is cpu; "
    assert text == f"{begin}t_gpu: {module} is there, but it cannot run here: {why}."
    for name in ("gpu", "gpu:1", "t_gpu", "t_gpu:0"):
        code = f"import ferrule as fe\ntry: fe.device({name!r})\nexcept fe.NotFoundError as error: print(error)"
        error = run_python(code, FERRULE_BACKEND_DIR=module.parent).stdout
        assert error == f"there is no device '{name}'; there is cpu:0; t_gpu is incompatible: {why}\n"


def test_an_op_is_explained_by_the_devices_that_compute_it(run_python: Run, null_module: Path) -> None:
    text = explained(run_python, "Matmul")
    assert text.startswith("matmul: an op. Matrix product over the last two axes; the leading axes broadcast. cpu:0 ")
    assert " computes it in int8, " in text
    assert text.endswith(", complex64, complex128.")
    assert "float8" not in text
    assert explained(run_python, "conj").endswith(" cpu:0 computes it in complex64, complex128.")
    assert "; null:0 computes it in " in explained(run_python, "where", FERRULE_BACKEND_PATH=null_module)
    assert explained(run_python, "take", FERRULE_DISABLE="cpu").endswith(" There is no device to compute it.")


def test_every_op_is_explained(run_python: Run) -> None:
    code = "import ferrule as fe\nfrom ferrule.op_rows import OP_ROWS\nfor op in OP_ROWS: print(fe.explain(op))"
    lines = run_python(code).stdout.splitlines()
    assert len(lines) > 100
    assert [line for line in lines if " cpu:0 computes it in " not in line] == []


def test_invalid_name_is_refused() -> None:
    import ferrule as fe

    with pytest.raises(fe.InvalidArgumentError, match="takes the name of a backend"):
        fe.explain("")
