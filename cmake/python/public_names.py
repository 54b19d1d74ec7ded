"""Writes ferrule/public_names.py: where each public name of `import ferrule` is.

    public_names.py public_names.py python/ferrule ops.py ...

The names are those that __init__.py imports as themselves, those that it assigns, and the functions of generated files
of ferrule.functions. Those of ferrule.fft and others are what their __init__.py imports from their files.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

HEAD = '''"""Where the public names of `import ferrule` are. Generated from __init__.py and csrc/ops."""

from __future__ import annotations

'''


NAMESPACES = ("fft", "linalg", "random")


def imported(statements: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The names that are imported as themselves, as type checkers want it, and their modules."""
    for statement in statements:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from imported(statement.body)
        if isinstance(statement, ast.ImportFrom):
            yield from ((name.name, str(statement.module)) for name in statement.names if name.asname == name.name)


def functions_in(package: Path, namespace: str) -> Iterator[tuple[str, str]]:
    """The functions of a namespace, such as "random.split", and their modules."""
    for statement in ast.parse((package / namespace / "__init__.py").read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.ImportFrom) and str(statement.module).startswith(f"ferrule.{namespace}."):
            yield from ((f"{namespace}.{name.name}", str(statement.module)) for name in statement.names)


def assigned(module: ast.Module) -> Iterator[str]:
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(name, ast.Name) and (name.id[0] != "_" or name.id.endswith("version__")):
                        yield name.id


def main() -> None:
    result, package, *generated = map(Path, sys.argv[1:])
    module = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    modules = dict(imported(module.body))
    for path in generated:
        functions = ast.parse(path.read_text(encoding="utf-8")).body
        modules |= {f.name: f"ferrule.functions.{path.stem}" for f in functions if isinstance(f, ast.FunctionDef)}
    public = "".join(f"    {json.dumps(name)},\n" for name in sorted({*modules, *assigned(module)}))
    in_namespaces = {name: where for namespace in NAMESPACES for name, where in functions_in(package, namespace)}
    text = f"{table('MODULES', modules)}{table('IN_NAMESPACES', in_namespaces)}PUBLIC: list[str] = [\n{public}]\n"
    result.write_text(HEAD + text, encoding="utf-8", newline="\n")


def table(name: str, modules: dict[str, str]) -> str:
    lines = "".join(f"    {json.dumps(key)}: {json.dumps(where)},\n" for key, where in sorted(modules.items()))
    return f"{name}: dict[str, str] = {{\n{lines}}}\n"


main()
