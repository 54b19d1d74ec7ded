"""Writes ferrule/public_names.py: where each public name of `import ferrule` is.

    public_names.py public_names.py python/ferrule generated/python

The names are those that __init__.py imports as themselves, those that it assigns, and the `__all__` of each module from
which it imports *. The names of ferrule.fft and others are what their __init__.py imports from their files. Generated
modules are in the second folder.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterator
from pathlib import Path

HEAD = '''"""Where the public names of `import ferrule` are. Generated from __init__.py and its imports."""

from __future__ import annotations

'''


NAMESPACES = ("fft", "io", "linalg", "random")


def imported(statements: list[ast.stmt], package: Path, generated: Path) -> Iterator[tuple[str, str]]:
    """The names that are imported as themselves, as type checkers want it, or by *, and their modules."""
    for statement in statements:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from imported(statement.body, package, generated)
        if isinstance(statement, ast.ImportFrom):
            module = str(statement.module)
            for name in statement.names:
                if name.asname == name.name:
                    yield name.name, module
                elif name.name == "*":
                    path = package.parent.joinpath(*module.split(".")).with_suffix(".py")
                    yield from ((each, module) for each in listed(path if path.exists() else generated / path.name))


def listed(path: Path) -> list[str]:
    """The names in `__all__` of a module."""
    for statement in ast.parse(path.read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "__all__":
            return list(ast.literal_eval(statement.value))
    raise SystemExit(f"{path} has no __all__")


def functions_in(namespace: str, package: Path, generated: Path) -> Iterator[tuple[str, str]]:
    """The functions of a namespace, such as "random.split", and their modules."""
    statements = ast.parse((package / namespace / "__init__.py").read_text(encoding="utf-8")).body
    for name, module in imported(statements, package, generated):
        if module.startswith(f"ferrule.{namespace}."):
            yield f"{namespace}.{name}", module


def assigned(module: ast.Module) -> Iterator[str]:
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(name, ast.Name) and (name.id[0] != "_" or name.id.endswith("version__")):
                        yield name.id


def main() -> None:
    result, package, generated = map(Path, sys.argv[1:])
    module = ast.parse((package / "__init__.py").read_text(encoding="utf-8"))
    modules = dict(imported(module.body, package, generated))
    public = "".join(f"    {json.dumps(name)},\n" for name in sorted({*modules, *assigned(module)}))
    in_namespaces: dict[str, str] = {}
    for namespace in NAMESPACES:
        in_namespaces |= functions_in(namespace, package, generated)
    text = f"{table('MODULES', modules)}{table('IN_NAMESPACES', in_namespaces)}PUBLIC: list[str] = [\n{public}]\n"
    result.write_text(HEAD + text, encoding="utf-8", newline="\n")


def table(name: str, modules: dict[str, str]) -> str:
    lines = "".join(f"    {json.dumps(key)}: {json.dumps(where)},\n" for key, where in sorted(modules.items()))
    return f"{name}: dict[str, str] = {{\n{lines}}}\n"


main()
