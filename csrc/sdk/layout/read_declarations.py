"""Writes the declarations of the public headers as macros, for print_layout.cpp, which computes sizes and offsets.

    python3 read_declarations.py <folder of the headers> >declarations.inc

The headers must have a fixed form: a struct without a list of slots has one field per declaration, an enumeration
gives each name a value, a function begins with FE_API. A field or function of another form is an error.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

STRUCT = re.compile(r"typedef (?:struct|union) (fe_\w+) \{([^}]*)\} \1;")
FIELD = re.compile(r"([^,]+?)(\w+)(\[\w+\])?")  # not "a, b": each field is listed
ENUM = re.compile(r"typedef enum (fe_\w+) FE_ANY_INT \{([^}]*)\} \1;")
FUNCTION = re.compile(r"FE_API ([^;(]+?)\b(fe_\w+)(\([^;]*\));")
POINTER = re.compile(r"typedef ([^;(]+)\(\*(fe_\w+)\)(\([^;]*\));")


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//[^\n]*", " ", text, flags=re.DOTALL)


def one_line(text: str) -> str:
    return " ".join(text.split())


def declarations(text: str) -> Iterator[str]:
    for name, body in STRUCT.findall(text):
        if "_FIELDS(" in body or "_SLOTS(" in body:
            continue  # print_layout.cpp uses the list itself
        yield f"DECLARED_STRUCT({name})"
        for field in filter(None, (one_line(part) for part in body.split(";"))):
            if field == "size_t struct_size":
                continue
            match = FIELD.fullmatch(field)
            if match is None:
                raise SystemExit(f"read_declarations: {name}: '{field}' is not a field of the form 'type name'")
            kind = match[1].strip() + (match[3] or "")
            yield f'DECLARED_FIELD({name}, {match[2]}, "{kind}")'
    for name, body in ENUM.findall(text):
        for enumerator in filter(None, (one_line(part) for part in body.split(","))):
            yield f"DECLARED_ENUMERATOR({name}, {enumerator.split()[0]})"
    for result, name, parameters in POINTER.findall(text):
        yield f"DECLARED_POINTER({one_line(result)}, {name}, {one_line(parameters)})"
    functions = FUNCTION.findall(text)
    if len(functions) != len(re.findall(r"^FE_API\b", text, re.MULTILINE)):
        raise SystemExit("read_declarations: a function is not of the form 'FE_API result fe_name(parameters);'")
    for result, name, parameters in functions:
        yield f"DECLARED_FUNCTION({one_line(result)}, {name}, {one_line(parameters)})"


def main() -> None:
    for header in sorted(Path(sys.argv[1]).glob("*.h")):
        text = without_comments(header.read_text(encoding="utf-8"))
        # Remove preprocessor directives: a macro definition may look like a declaration.
        text = re.sub(r"^[ \t]*#(?:[^\n]*\\\n)*[^\n]*", "", text, flags=re.MULTILINE)
        for line in declarations(text):
            sys.stdout.write(line + "\n")


if __name__ == "__main__":
    main()
