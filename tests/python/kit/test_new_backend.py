"""`python -m ferrule new-backend`: the generated backend builds, computes, passes the kit, and installs."""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from xml.etree import ElementTree

import pytest
from installed import build, output_of

STRICT = "-DCMAKE_COMPILE_WARNING_AS_ERROR=ON"


def generate(name: str, folder: Path) -> Path:
    output_of(sys.executable, "-m", "ferrule", "new-backend", name, "--folder", folder)
    return folder


def refusal(*arguments: str | Path) -> str:
    """The error output of an invalid command line."""
    command = [sys.executable, "-m", "ferrule", "new-backend", *map(str, arguments)]
    result = subprocess.run(command, capture_output=True, text=True)
    assert (result.returncode, result.stdout) == (1, ""), result
    assert len(result.stderr.splitlines()) == 1, result.stderr
    return result.stderr.removeprefix("new-backend: ").rstrip("\n")


def contents(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return generate("mine", tmp_path_factory.mktemp("generated") / "mine")


# ---- generated files
def test_template_names_are_replaced(sources: Path) -> None:
    assert contents(sources) == {
        ".gitignore",
        "CMakeLists.txt",
        "README.md",
        "kernels/kernels.h",
        "kernels/softmax.cpp",
        "mine.cpp",
        "pyproject.toml",
        "tests/test_mine.py",
    }
    for path in contents(sources):
        text = (sources / path).read_text()
        assert "backend_name" not in text
        assert "ferrule_minor" not in text


@pytest.mark.parametrize("name", ["mine-2", "../mine", "mine\n"])
def test_invalid_name_is_refused(name: str, tmp_path: Path) -> None:
    message = refusal(name, "--folder", tmp_path / "mine")
    assert message == f"{name!r} is not a valid name: it must consist of a-z, 0-9 and _, and end in a letter or digit"
    assert not any(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["cpu", "metal"])
def test_name_of_a_ferrule_backend_is_refused(name: str, tmp_path: Path) -> None:
    assert refusal(name, "--folder", tmp_path / name) == f"'{name}' is the name of a backend of ferrule's own"
    assert not any(tmp_path.iterdir())


def test_nonempty_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine.cpp").write_text("precious")
    assert refusal("mine", "--folder", tmp_path) == f"{tmp_path} is not empty, and nothing in it is overwritten"
    assert contents(tmp_path) == {"mine.cpp"}
    assert (tmp_path / "mine.cpp").read_text() == "precious"


# ---- the kit
Outcomes = dict[str, str | None]  # maps test names to their failure, None if passed


def run_kit(module: Path, *arguments: str) -> tuple[int, Outcomes]:
    """The exit status, and the outcome of each test that was not skipped."""
    report = module.parent / "report.xml"
    command = [sys.executable, "-m", "pytest", "--pyargs", "ferrule.testing", "--ferrule-backend", str(module)]
    command += ["-p", "no:cacheprovider", "-q", f"--junitxml={report}", *arguments]
    result = subprocess.run(command, cwd=module.parent, capture_output=True, text=True)
    assert result.returncode in (0, 1), result.stdout + result.stderr
    outcomes: Outcomes = {}
    for test in ElementTree.parse(report).iter("testcase"):
        if test.find("skipped") is None:
            problem = next((found for kind in ("failure", "error") if (found := test.find(kind)) is not None), None)
            outcomes[test.attrib["name"]] = None if problem is None else f"{problem.get('message')}\n{problem.text}"
    return result.returncode, outcomes


def check_of(op: str, check: str) -> str:
    return f"test_op[mine-{op}-float32-{check}]"


def test_generated_backend_passes_its_tests_and_the_kit(sources: Path) -> None:
    module = build(sources, sources / "build", STRICT) / "libferrule-mine.so"
    manifest = json.loads(module.with_suffix(".json").read_text())
    assert (manifest["name"], manifest["ops"], manifest["preference"]) == ("mine", ["softmax"], -1)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests", "--ferrule-backend", module]
    result = subprocess.run(command, cwd=sources, capture_output=True, text=True)
    assert result.returncode == 0, result.stdout
    assert "5 passed" in result.stdout
    status, outcomes = run_kit(module, "--ferrule-level=brief", "--ferrule-sample")
    assert status == 0, outcomes
    assert check_of("softmax", "values") in outcomes


# ---- its README
def test_second_op_of_the_readme_works(tmp_path: Path) -> None:
    folder = generate("2nd_new", tmp_path / "made")  # a name that is not an identifier
    readme = (folder / "README.md").read_text()
    [example] = [text.split("```")[0] for text in readme.split("```cpp\n")[1:]]
    assert "`kernels/exp.cpp`" in readme
    module = build(folder, folder / "build", STRICT) / "libferrule-2nd_new.so"
    (folder / "kernels" / "exp.cpp").write_text(example)
    output_of("cmake", "--build", folder / "build")
    assert json.loads(module.with_suffix(".json").read_text())["ops"] == ["exp", "softmax"]
    program = """
import sys
import numpy as np
import ferrule as fe
fe.load(sys.argv[1])
x = np.linspace(-100, 80, 60_000, dtype=np.float32).reshape(2, 100, 300)
for values in (x, x.T, x[:, ::-2], np.broadcast_to(x[:1], (4, 100, 300))):
    graph = fe.Graph(device="2nd_new")
    strides = [stride // values.itemsize for stride in values.strides]
    graph.output(fe.exp(graph.input(values.shape, "float32", strides=strides)))
    graph.compile(fallback="error")
    got = np.asarray(graph.compute(fe.asarray(values, device="2nd_new")))
    np.testing.assert_allclose(got, np.exp(values.astype(np.float64)), rtol=2e-7, atol=2e-45)
"""
    output_of(sys.executable, "-c", program, module)
    status, outcomes = run_kit(module, "--ferrule-op=exp", "--ferrule-level=brief", "-k", "exp-float32")
    assert status == 0, outcomes
    assert check_of("exp", "values").replace("mine", "2nd_new") in outcomes


def test_installed_wheel_is_found(sources: Path, tmp_path: Path) -> None:
    pip = [sys.executable, "-m", "pip"]
    output_of(*pip, "wheel", "-q", "--no-build-isolation", "--no-deps", "-w", tmp_path, sources)
    [wheel] = tmp_path.glob("*.whl")
    assert wheel.name.startswith("ferrule_backend_mine-0.1.0-py3-none-linux")
    venv.create(tmp_path / "environment", with_pip=False)
    python = tmp_path / "environment" / "bin" / "python"
    site = Path(output_of(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))").strip())
    # ferrule and NumPy come from this environment.
    (site / "outer.pth").write_text(sysconfig.get_path("purelib"))
    output_of(*pip, "install", "-q", "--no-deps", "--target", site, wheel)
    program = """
import ferrule as fe
[row] = [row for row in fe.load_all(require="mine") if row.name == "mine"]
print(row.state, row.path)
print(fe.softmax(fe.ones((2, 4), device="mine")).tolist()[0], fe.best_device().backend.name)
"""
    found = site / "ferrule_backends" / "mine" / "libferrule-mine.so"
    assert output_of(python, "-c", program) == f"loaded {found}\n[0.25, 0.25, 0.25, 0.25] cpu\n"
