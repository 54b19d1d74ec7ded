"""Writes ferrule/public_names.py: where each public name of `import ferrule` is.

    public_names.py public_names.py python/ferrule/__init__.py ops.py ...

The names are those that __init__.py imports as themselves, those that it assigns, and the functions of generated files
of ferrule.functions.
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


def imported(statements: list[ast.stmt]) -> Iterator[tuple[str, str]]:
    """The names that are imported as themselves, as type checkers want it, and their modules."""
    for statement in statements:
        if isinstance(statement, ast.If) and ast.unparse(statement.test) == "TYPE_CHECKING":
            yield from imported(statement.body)
        if isinstance(statement, ast.ImportFrom):
            yield from ((name.name, str(statement.module)) for name in statement.names if name.asname == name.name)


def assigned(module: ast.Module) -> Iterator[str]:
    for statement in module.body:
        if isinstance(statement, ast.Assign):
            for target in statement.targets:
                for name in target.elts if isinstance(target, ast.Tuple) else [target]:
                    if isinstance(name, ast.Name) and (name.id[0] != "_" or name.id.endswith("version__")):
                        yield name.id


def main() -> None:
    result, source, *generated = map(Path, sys.argv[1:])
    module = ast.parse(source.read_text(encoding="utf-8"))
    modules = dict(imported(module.body))
    for path in generated:
        functions = ast.parse(path.read_text(encoding="utf-8")).body
        modules |= {f.name: f"ferrule.functions.{path.stem}" for f in functions if isinstance(f, ast.FunctionDef)}
    lines = [f"    {json.dumps(name)}: {json.dumps(where)},\n" for name, where in sorted(modules.items())]
    text = f"MODULES: dict[str, str] = {{\n{''.join(lines)}}}\n"
    public = "".join(f"    {json.dumps(name)},\n" for name in sorted({*modules, *assigned(module)}))
    result.write_text(f"{HEAD}{text}PUBLIC: list[str] = [\n{public}]\n", encoding="utf-8", newline="\n")


main()
