"""`fe.explain`: one sentence on why a backend is available or not."""

from __future__ import annotations

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
    (distribution / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: ferrule\nVersion: 9\nProvides-Extra: cuda\nProvides-Extra: testing\n"
    )
    before = f"import sys; sys.path.insert(0, {str(tmp_path / 'site')!r})"
    assert explained(run_python, "cuda", before).endswith(" Install it: pip install 'ferrule[cuda]'")
    assert explained(run_python, "cudda", before).endswith(" Did you mean 'cuda'?")
    assert "pip" not in explained(run_python, "testing", before)


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


def test_invalid_name_is_refused() -> None:
    import ferrule as fe

    with pytest.raises(fe.InvalidArgumentError, match="takes the name of a backend"):
        fe.explain("")
