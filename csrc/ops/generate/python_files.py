"""Writes what Python sees of the op rows and of the .toml files here: functions, methods, their stubs, and the page of
the documentation, each by a template of the folder beside this file.

    python_files.py ops.json python/ferrule/functions folder

ops.json is what `ferrule-generate-ops description` prints.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import array_methods
import composed_functions
import function_reference
import jinja2
import op_page
from docstrings import docstring

Row = dict[str, Any]

TYPES = {  # of attributes: in signatures, and in docstrings
    "int": ("int", "int"),
    "float": ("float", "float"),
    "bool": ("bool", "bool"),
    "str": ("str", "str"),
    "list of int": ("int | Sequence[int] | None", "int or sequence of int"),
    "list of float": ("float | Sequence[float] | None", "float or sequence of float"),
    "dtype": ("str", "str"),
}
ANY = {"stored": "any dtype", "plain": "any dtype but block dtypes"}


def dtypes_of(accepts: str) -> str:
    """What an input accepts: "a real dtype"."""
    return ANY.get(accepts) or f"{'an' if accepts[0] in 'aeio' else 'a'} {accepts} dtype"


def signature(row: Row) -> str:
    """Optional inputs may also be passed by name; attributes without a default come first, and by position."""
    parameters = [f"{x['name']}: Operand" for x in row["inputs"] if not x["optional"]]
    parameters.append("/")
    parameters += [f"{x['name']}: Operand | None = None" for x in row["inputs"] if x["optional"]]
    parameters += [f"{a['name']}: {TYPES[a['type']][0]}" for a in row["attributes"] if a["required"]]
    named = [a for a in row["attributes"] if not a["required"]]
    parameters += ["*"] if named else []
    parameters += [f"{a['name']}: {TYPES[a['type']][0]} = {default_of(a)}" for a in named]
    return f"def {row['name']}({', '.join(parameters)}) -> {result_type(row)}:"


def arguments(row: Row) -> str:
    """What `apply` gets: the op, its inputs, its attributes."""
    inputs = ", ".join(x["name"] for x in row["inputs"])
    values = (f'"{a["name"]}": {a["name"]}' + f" if {a['name']} is not None else ()" * (a["type"] == "list of int")
              for a in row["attributes"])  # fmt: skip
    return f'"{row["name"]}", ({inputs}{"," * (len(row["inputs"]) == 1)}), {{{", ".join(values)}}}'


def is_plain(row: Row) -> bool:
    """Whether the extension records calls on arrays and numbers by itself; comparisons of integers are special."""
    compares = row["family"] == "comparison" and len(row["inputs"]) == 2
    return not row["attributes"] and len(row["outputs"]) == 1 and not compares


def default_of(attribute: Row) -> str:
    value = attribute["default"]
    if value is None or value == []:
        return "None"
    return json.dumps(value) if isinstance(value, str) else repr(value)


def result_type(row: Row) -> str:
    """ "Array", or a name such as "TopkResult" for an op with several outputs."""
    return "Array" if len(row["outputs"]) == 1 else row["name"].capitalize() + "Result"


def summary(row: Row) -> str:
    text: str = row["text"]
    if row["kind"] != "elementwise" or "elementwise" in text:
        return text
    first, stop, rest = text.partition(". ")
    return f"{first}, elementwise. {rest}" if stop else f"{text.removesuffix('.')}, elementwise."


def parameters(row: Row) -> Iterator[tuple[str, str, str]]:
    """Name, type and sentence of each parameter; x1 and x2 share theirs."""
    inputs = row["inputs"]
    if len(inputs) == 2 and not any(x["text"] for x in inputs) and inputs[0]["accepts"] == inputs[1]["accepts"]:
        names = ", ".join(x["name"] for x in inputs)
        dtypes = "any dtype" if inputs[0]["truth"] else dtypes_of(inputs[0]["accepts"])
        arrays = f"Arrays of {dtypes} that broadcast with each other, or an array and a number."
        yield names, "array_like", f"{arrays} {conversion(row)}".strip()
        inputs = []
    for x in inputs:
        kind = "array_like, optional" if x["optional"] else "array_like"
        dtypes = "any dtype" if x["truth"] else dtypes_of(x["accepts"])
        yield x["name"], kind, x["text"] or f"An array of {dtypes}. {conversion(row)}".strip()
    for a in sorted(row["attributes"], key=lambda a: not a["required"]):
        kind = TYPES[a["type"]][1]
        if a["choices"]:
            kind = "{" + ", ".join(f"'{choice}'" for choice in a["choices"].split("|")) + "}"
        yield a["name"], kind if a["required"] else f"{kind}, optional", a["text"]


def conversion(row: Row) -> str:
    """How inputs of other dtypes are converted; "" if they are refused."""
    if any(x["truth"] for x in row["inputs"]):
        return "Numbers other than zero are true, and so is NaN."
    if row["casts_integers"]:
        return "Integers and bools have the default dtype, or that of the other input if it is floating-point."
    return ""


def returns(row: Row) -> str:
    if row["returns"]:
        return str(row["returns"])
    output = row["outputs"][0]
    names = [x["name"] for x in row["inputs"]]
    if output["shape"] == "broadcast" and len(names) > 1:
        shape = f"An array of the shape that {' and '.join(names)} broadcast to"
    else:
        assert output["shape"] in ("same", "broadcast"), f"{row['name']}: say what it returns"
        shape = f"An array of the shape of {names[0]}"
    if output["dtype"] == "fixed" or row["inputs"][0]["truth"]:
        return f"{shape}, of dtype {output['fixed_dtype'] or 'bool'}."
    if output["dtype"] == "real":
        return f"{shape}. Its dtype is that of {names[0]}, or of the parts of complex numbers."
    assert output["dtype"] == "same", f"{row['name']}: say what it returns"
    return f"{shape}, of the dtype that they are promoted to." if len(names) > 1 else f"{shape}, of the same dtype."


def raises(row: Row) -> Iterator[tuple[str, str]]:
    limited = [x for x in row["inputs"] if x["accepts"] not in ANY]
    if limited:
        names = " or ".join(dict.fromkeys(x["name"] for x in limited))
        is_wrong = "a block dtype" if limited[0]["truth"] else f"not {limited[0]['accepts']}"
        yield "DTypeError", f"The dtype of {names} is {is_wrong}."
    reasons = [row["raises"]] if row["raises"] else []
    if row["outputs"][0]["shape"] == "broadcast" and len(row["inputs"]) > 1:
        reasons.insert(0, "The shapes do not broadcast.")
    if reasons:
        yield "InvalidArgumentError", " ".join(reasons)


def docstring_of(row: Row) -> str:
    assert row["example"], f"{row['name']}: its row has no example"
    result = [(result_type(row), returns(row))]
    return docstring(summary(row), parameters(row), result, raises(row), row["example"])


def facts(row: Row) -> Row:
    """The row as the package has it: see python/ferrule/op_rows.pyi."""
    return {
        **{key: row[key] for key in ("name", "text", "kind")},
        "inputs": [{key: x[key] for key in ("name", "accepts", "optional")} for x in row["inputs"]],
        "attributes": [{key: a[key] for key in ("name", "type", "required")} for a in row["attributes"]],
        "outputs": [x["name"] for x in row["outputs"]],
    }


def main() -> None:
    rows = json.loads(Path(sys.argv[1]).read_text(encoding="utf-8"))
    modules, folder = Path(sys.argv[2]), Path(sys.argv[3])
    loader = jinja2.FileSystemLoader(Path(__file__).parent / "templates")
    templates = jinja2.Environment(loader=loader, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
                                   undefined=jinja2.StrictUndefined)  # fmt: skip
    helpers = {
        "signature": signature,
        "result_type": result_type,
        "docstring": docstring_of,
        "arguments": arguments,
        "is_plain": is_plain,
        "facts": facts,
        "op_page": op_page,
    }
    composed = composed_functions.read(Path(__file__).with_name("reduction_functions.toml"))
    transforms = composed_functions.read(Path(__file__).with_name("transform_functions.toml"))["functions"]
    functions = [row for row in rows if not row["by_hand"]]
    described = {
        "composed": composed,
        "transforms": transforms,
        "written_functions": function_reference.written(modules.parent),
        "reduction_functions": function_reference.generated((f.signature, f.docstring) for f in composed["functions"]),
        "transform_functions": function_reference.generated(((f.signature, f.docstring) for f in transforms), "fft."),
        "op_functions": function_reference.generated((signature(row), docstring_of(row)) for row in functions),
        "methods": list(array_methods.of_functions(modules)),
        "declared_methods": list(array_methods.declared(modules)),
    }
    families: dict[str, list[Row]] = {}
    for row in rows:
        families.setdefault(row["family"], []).append(row)
    for path in sorted(Path(__file__).with_name("templates").glob("*.*.jinja")):
        name = path.stem
        template = templates.get_template(path.name)
        text = template.render(rows=functions, all_rows=rows, families=sorted(families.items()), **helpers, **described)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8", newline="\n")


main()
