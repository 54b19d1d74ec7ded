"""The imports of the Python package point one way, from its tools down to its errors (ORDER). They form no cycle of
files or of folders.

The sources are parsed, not imported. An import is one of five kinds:

- "module": it runs when the module is imported;
- "later": `later("ferrule.x")`, which runs when a name of that module is first used;
- "function": it stands inside a function;
- "typing": it stands under `if TYPE_CHECKING:` and never runs;
- "discovery": a package of DISCOVERIES imports all files of its folder by name.

`import_module` and `__import__` are imports of the module whose name they are given, which is a literal.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).resolve().parents[3]
PACKAGE = ROOT / "python" / "ferrule"
PLUGIN = "ferrule_pytest"

# From the bottom up: each part imports itself and the parts before it. "ferrule" is the module with the public names.
ORDER = (
    "_ferrule",  # the extension
    "missing_extension",
    "own_library",
    "public_names",  # generated
    "op_rows",  # generated
    "later",
    "errors",
    "text",
    "process",
    "dtypes",
    "loading",
    "_pyinstaller",
    "array",
    "io",
    "functions",
    "einops",
    "random",
    "fft",
    "lib",
    "linalg",
    "graphs",
    "profiling",
    "ferrule",
    "tools",
    "testing",
    "__main__",
    PLUGIN,
)
# Packages that import all files of their folder, whatever their names are.
DISCOVERIES = ("ferrule.testing.cases", "ferrule.testing.checks", "ferrule.testing.programs.steps")
# Modules that import by a name that they are given: the public names, and `later`, whose calls are listed.
LATE_IMPORTERS = ("ferrule", "ferrule.later")
# Imports that are allowed inside a function, and why. Nothing of ferrule is: `later` is the way to import it late.
HEAVY = "it takes long to import, and most programs never need it"
OPTIONAL = "it need not be installed"
SYSTEM = "not every system has it"
INSIDE_FUNCTIONS = {
    "asyncio": HEAVY,
    "ctypes": HEAVY,
    "difflib": HEAVY,
    "linecache": HEAVY,
    "pathlib": HEAVY,
    "shutil": HEAVY,
    "site": HEAVY,
    "subprocess": HEAVY,
    "ml_dtypes": HEAVY,
    "rich": HEAVY,
    "jinja2": HEAVY,
    "markupsafe": HEAVY,
    "IPython": OPTIONAL,
    "gguf": OPTIONAL,
    "hypothesis": OPTIONAL,
    "opt_einsum": OPTIONAL,
    "pwd": SYSTEM,
}


class Import(NamedTuple):
    source: str  # the module that imports
    target: str  # a module of ferrule, or the name of another package
    kind: str
    line: int

    def __str__(self) -> str:
        return f"{self.source}:{self.line} imports {self.target} ({self.kind})"


def sources_of(*packages: Path) -> dict[str, str]:
    """The text of each module, by its name. The templates are programs of others."""
    found = {}
    for path in sorted(path for package in packages for path in package.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if "templates" not in parts:
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path.read_text(encoding="utf-8")
    return found


def imports_of(sources: Mapping[str, str]) -> list[Import]:
    """All imports of all modules. A typing import of what the module also imports late is not listed twice."""
    trees = {name: ast.parse(text) for name, text in sources.items()}
    found = [each for name, tree in trees.items() for each in _imports_in(name, tree, "module", sources)]
    for package in DISCOVERIES:
        files = [name for name in sources if name.rpartition(".")[0] == package]
        found += [Import(package, name, "discovery", 1) for name in files]
    late = {(each.source, each.target) for each in found if each.kind == "later"}
    return [each for each in found if each.kind != "typing" or (each.source, each.target) not in late]


def _imports_in(name: str, node: ast.AST, kind: str, sources: Mapping[str, str]) -> Iterator[Import]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test) and kind == "module":
            is_negated = isinstance(child.test, ast.UnaryOp)
            branches = (child.orelse, child.body) if is_negated else (child.body, child.orelse)
            for statements, branch_kind in zip(branches, ("typing", "module"), strict=True):
                yield from _imports_in(name, ast.Module(statements, []), branch_kind, sources)
            continue
        if isinstance(child, (ast.Import, ast.ImportFrom)):
            for target in _targets(child, sources):
                yield Import(name, target, kind, child.lineno)
            if any(
                each.name == "import_module" and each.asname not in (None, "_import_module") for each in child.names
            ):
                yield Import(name, "?", kind, child.lineno)  # calls of it would not be found
        elif isinstance(child, ast.Call) and isinstance(child.func, ast.Name) and child.func.id == "later":
            yield Import(name, _literal(child) or "?", "later", child.lineno)
        elif isinstance(child, ast.Call) and _imports_by_name(child.func):
            literal = _literal(child)
            if literal is not None:
                yield Import(name, literal, "later" if name in LATE_IMPORTERS else kind, child.lineno)
            elif name not in LATE_IMPORTERS and not (name in DISCOVERIES and _is_of_own_folder(child)):
                yield Import(name, "?", kind, child.lineno)
        elif isinstance(child, ast.Subscript) and ast.unparse(child.value) == "sys.modules":
            yield Import(name, str(getattr(child.slice, "value", "?")), kind, child.lineno)
        is_function = isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda))
        yield from _imports_in(name, child, "function" if is_function and kind == "module" else kind, sources)


def _literal(call: ast.Call) -> str | None:
    """The first argument, if it is a literal."""
    return str(call.args[0].value) if call.args and isinstance(call.args[0], ast.Constant) else None


def _is_of_own_folder(call: ast.Call) -> bool:
    """Whether the argument is f"{__name__}.{file}"."""
    return ast.unparse(call.args[0]).startswith("f'{__name__}.{")


def _imports_by_name(function: ast.expr) -> bool:
    """Whether this is `import_module`, of importlib or by its name alone, or `__import__`."""
    last = ast.unparse(function).rpartition(".")[2]
    return last.lstrip("_") in ("import_module", "import__")


def _targets(node: ast.Import | ast.ImportFrom, sources: Mapping[str, str]) -> Iterator[str]:
    if isinstance(node, ast.Import):
        for alias in node.names:
            yield alias.name if is_own(alias.name) else alias.name.partition(".")[0]
    elif node.level:
        yield "." * node.level + (node.module or "")
    elif node.module is not None and is_own(node.module):
        for alias in node.names:
            full = f"{node.module}.{alias.name}"
            yield full if full in sources or full == "ferrule._ferrule" else node.module
    elif node.module is not None and node.module != "__future__":
        yield node.module.partition(".")[0]


def is_own(module: str) -> bool:
    return module.partition(".")[0] in ("ferrule", PLUGIN)


def part_of(module: str) -> str:
    """The entry of ORDER that a module belongs to."""
    return module.split(".")[1] if "." in module else module


def names_later(each: Import) -> bool:
    """Whether only type checkers run the import: of a public name, or of the declared methods of Array."""
    return each.kind == "typing" and (each.source == "ferrule" or each.target == "ferrule.functions.array_methods")


def against_the_order(imports: Iterable[Import]) -> list[str]:
    """Imports of a part that is above the importing one, or that has no place in ORDER."""
    found = []
    for each in imports:
        if not is_own(each.target) or names_later(each):
            continue
        unknown = {part_of(each.source), part_of(each.target)} - set(ORDER)
        if unknown or ORDER.index(part_of(each.target)) > ORDER.index(part_of(each.source)):
            found.append(str(each))
    return found


def may_import_late(each: Import) -> bool:
    """The plug-in imports ferrule inside functions: pytest imports it in every run, and `later` is part of ferrule."""
    return each.source == PLUGIN and is_own(each.target)


def misplaced(imports: Iterable[Import]) -> list[str]:
    """Imports inside functions that no reason allows, relative ones, and those of a module that is not known."""
    return [
        str(each)
        for each in imports
        if each.target.startswith((".", "?"))
        or (each.kind == "function" and each.target not in INSIDE_FUNCTIONS and not may_import_late(each))
        or (each.kind == "later" and not is_own(each.target))
    ]


def cycles(imports: Iterable[Import]) -> list[tuple[str, ...]]:
    """The largest groups of modules each of which reaches all others of its group, sorted (Tarjan 1972)."""
    arrows: dict[str, set[str]] = {}
    for each in imports:
        if is_own(each.target) and each.target != each.source:
            arrows.setdefault(each.source, set()).add(each.target)
    number: dict[str, int] = {}
    lowest: dict[str, int] = {}
    stack: list[str] = []
    groups: list[tuple[str, ...]] = []

    def visit(module: str) -> None:
        number[module] = lowest[module] = len(number)
        stack.append(module)
        for target in sorted(arrows.get(module, ())):
            if target not in number:
                visit(target)
                lowest[module] = min(lowest[module], lowest[target])
            elif target in stack:
                lowest[module] = min(lowest[module], number[target])
        if lowest[module] == number[module]:
            place = stack.index(module)
            group = tuple(sorted(stack[place:]))
            del stack[place:]
            if len(group) > 1:
                groups.append(group)

    for module in sorted(arrows):
        if module not in number:
            visit(module)
    return sorted(groups)


def between_folders(imports: Iterable[Import], sources: Iterable[str]) -> list[Import]:
    """The imports, with the folder of each file in place of the file. A file beside ferrule/__init__.py stands for
    itself: it is a part of ORDER."""
    packages = {name.rpartition(".")[0] for name in sources}

    def folder_of(module: str) -> str:
        above = module.rpartition(".")[0]
        return module if module in packages or above in ("", "ferrule") else above

    return [each._replace(source=folder_of(each.source), target=folder_of(each.target)) for each in imports]


SOURCES = sources_of(PACKAGE, PACKAGE.with_name(PLUGIN))
IMPORTS = imports_of(SOURCES)


def test_imports_are_found() -> None:
    assert len({each.source for each in IMPORTS}) > 100
    assert {each.kind for each in IMPORTS} == {"module", "later", "function", "typing", "discovery"}
    assert {each.source for each in IMPORTS if each.kind == "discovery"} == set(DISCOVERIES)


def test_imports_follow_the_order_of_the_packages() -> None:
    assert against_the_order(IMPORTS) == []


def test_every_package_of_the_order_exists() -> None:
    parts = {part_of(module) for module in SOURCES} | {"_ferrule", "public_names", "op_rows"}
    assert parts == set(ORDER)


def test_imports_form_no_cycle() -> None:
    assert cycles(each for each in IMPORTS if each.kind != "typing") == []


def test_folders_form_no_cycle() -> None:
    running = (each for each in IMPORTS if each.kind != "typing")
    assert cycles(between_folders(running, SOURCES)) == []


def test_type_checking_imports_form_no_cycle() -> None:
    assert cycles(each for each in IMPORTS if not names_later(each)) == []


def test_imports_are_at_the_top_of_files() -> None:
    assert misplaced(IMPORTS) == []


def test_the_extension_imports_no_module_of_ferrule() -> None:
    """Python hands its functions and classes in (`set_error_factory`), as the extension is below all other parts."""
    sources = sorted((ROOT / "csrc" / "bindings").glob("*.cpp"))
    imported = {name for source in sources for name in re.findall(r'\bimport\("([\w.]+)', source.read_text("utf-8"))}
    assert imported == {"ml_dtypes", "numpy"}


def test_each_exception_is_needed() -> None:
    inside = {each.target for each in IMPORTS if each.kind == "function" and not is_own(each.target)}
    assert inside == set(INSIDE_FUNCTIONS)


# ---- that violations are found
LATE = "from ferrule.later import later\n"
PROBE = {  # a package without violations, of which each case below replaces or adds one module
    "ferrule": "from ferrule.array.array import Array\nif TYPE_CHECKING:\n    from ferrule.tools.inspect import run\n",
    "ferrule.later": "class later: ...\n",
    "ferrule.errors": "from ferrule import _ferrule\n",
    "ferrule.array": "",
    "ferrule.array.array": "from ferrule.errors import Error\n"
    "if TYPE_CHECKING:\n    from ferrule.array import recording\n",
    "ferrule.array.recording": "import json\nfrom ferrule.array.array import Array\ndef f():\n    import asyncio\n",
    "ferrule.functions": "",
    "ferrule.functions.movement": "from ferrule.array.recording import apply\n",
    "ferrule.profiling": "",
    "ferrule.profiling.trace": "from ferrule.array.recording import apply\n",
    "ferrule.tools": "",
    "ferrule.tools.inspect": LATE + "import ferrule\nelf = later('ferrule.tools.elf')\n",
    "ferrule.tools.elf": "import lief\n",
}


def changed(module: str, text: str) -> list[Import]:
    return imports_of({**PROBE, module: PROBE.get(module, "") + text})


def test_the_probe_has_no_violation() -> None:
    imports = changed("ferrule.errors", "")
    assert against_the_order(imports) == misplaced(imports) == []
    assert cycles(each for each in imports if each.kind != "typing") == []


@pytest.mark.parametrize(
    ("module", "text"),
    [
        ("ferrule.array.recording", "from ferrule.functions.movement import reshape"),
        ("ferrule.array.recording", "from ferrule.functions import movement"),
        ("ferrule.array.recording", "import ferrule.functions.movement"),
        ("ferrule.array.recording", "def f():\n    from ferrule.functions import movement"),
        ("ferrule.array.recording", "if TYPE_CHECKING:\n    from ferrule.functions import movement"),
        ("ferrule.array.recording", "movement = later('ferrule.functions.movement')"),
        ("ferrule.array.recording", "import ferrule"),
        ("ferrule.array.recording", "from ferrule import asarray"),
        ("ferrule", "from ferrule.tools import inspect"),
        ("ferrule.profiling.trace", "import ferrule"),
        ("ferrule.array.recording", "movement = import_module('ferrule.functions.movement')"),
        ("ferrule.array.recording", "names = sys.modules['ferrule'].__all__"),
        ("ferrule.tools.inspect", "import ferrule_pytest"),
        ("ferrule.unplaced", "from ferrule.errors import Error"),
    ],
)
def test_an_import_against_the_order_is_found(module: str, text: str) -> None:
    [found] = against_the_order(changed(module, text))
    assert found.startswith(f"{module}:")


@pytest.mark.parametrize(
    ("text", "is_for_types_only"),
    [
        ("from ferrule.array.recording import apply", False),
        ("from ferrule.array import recording", False),
        ("try:\n    import ferrule.array.recording\nexcept ImportError:\n    pass", False),
        ("def f():\n    from ferrule.array import recording", False),
        ("recording = later('ferrule.array.recording')", False),
        ("def f():\n    importlib.import_module('ferrule.array.recording')", False),
        ("if not TYPE_CHECKING:\n    from ferrule.array import recording", False),
        ("if TYPE_CHECKING:\n    pass\nelse:\n    from ferrule.array import recording", False),
        ("", True),  # which the probe has
    ],
)
def test_a_cycle_is_found(text: str, is_for_types_only: bool) -> None:
    imports = changed("ferrule.array.array", text)
    cycle = ("ferrule.array.array", "ferrule.array.recording")
    assert cycles(each for each in imports if each.kind != "typing") == ([] if is_for_types_only else [cycle])
    assert cycles(each for each in imports if not names_later(each)) == [cycle]


def test_a_cycle_through_several_modules_is_found_whole() -> None:
    imports = imports_of(
        {
            "ferrule.io.a": "import ferrule.io.b",
            "ferrule.io.b": "import ferrule.io.c",
            "ferrule.io.c": "import ferrule.io.a\nimport ferrule.io.d",
            "ferrule.io.d": "",
        }
    )
    assert cycles(imports) == [("ferrule.io.a", "ferrule.io.b", "ferrule.io.c")]


def test_a_cycle_through_a_discovery_is_found() -> None:
    imports = imports_of(
        {
            "ferrule.testing.case": "from ferrule.testing.cases import all_cases",
            "ferrule.testing.cases": "def all_cases():\n    return importlib.import_module(f'{__name__}.{first}')",
            "ferrule.testing.cases.sorting": "from ferrule.testing.case import Case",
        }
    )
    assert misplaced(imports) == []
    elsewhere = "importlib.import_module(f'ferrule.testing.{first}')"
    assert len(misplaced(imports_of({"ferrule.testing.cases": elsewhere}))) == 1
    assert cycles(imports) == [("ferrule.testing.case", "ferrule.testing.cases", "ferrule.testing.cases.sorting")]


@pytest.mark.parametrize(
    ("importer", "is_cycle"), [("ferrule.tools.machine", True), ("ferrule.later", False), ("ferrule.tools", True)]
)
def test_a_cycle_of_folders_without_one_of_files_is_found(importer: str, is_cycle: bool) -> None:
    sources = {
        importer: "from ferrule.tools.inspection.read import read",
        "ferrule.tools.abi_version": "",
        "ferrule.tools.inspection.read": "from ferrule.tools.abi_version import parse",
    }
    imports = imports_of(sources)
    assert cycles(imports) == []
    found = cycles(between_folders(imports, sources))
    assert found == ([("ferrule.tools", "ferrule.tools.inspection")] if is_cycle else [])


@pytest.mark.parametrize(
    "text",
    [
        "def f():\n    from ferrule.errors import Error",
        "def f():\n    if True:\n        import ferrule.errors",
        "async def f():\n    import ferrule.errors",
        "class A:\n    def f(self):\n        from ferrule import _ferrule",
        "def f():\n    import numpy",
        "def f():\n    from collections import abc",
        "from .errors import Error",
        "name = 'ferrule.errors'\nerrors = later(name)",
        "json = later('json')",
        "def f():\n    importlib.import_module('ferrule.errors')",
        "def f(name):\n    importlib.import_module(f'ferrule.{name}')",
        "def f(name):\n    return _import_module(name)",
        "def f(name):\n    return __import__(name)",
        "from importlib import import_module as load",
    ],
)
def test_a_misplaced_import_is_found(text: str) -> None:
    assert len(misplaced(changed("ferrule.tools.inspect", text))) == 1
