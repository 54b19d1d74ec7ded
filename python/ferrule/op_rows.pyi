from typing import Literal, TypedDict

class Input(TypedDict):
    name: str
    accepts: str  # a set of dtypes, such as "floating"
    optional: bool

class Attribute(TypedDict):
    name: str
    type: Literal["int", "float", "bool", "str", "dtype", "list of int", "list of float"]
    required: bool

class OpRow(TypedDict):
    name: str
    text: str
    kind: Literal["elementwise", "view", "primitive", "composite", "host"]
    inputs: list[Input]
    attributes: list[Attribute]
    outputs: list[str]

OP_ROWS: dict[str, OpRow]  # by name
