"""The kinds of generated faults, each a small edit of one token, statement or condition."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from .source_text import SourceText


@dataclass(frozen=True)
class Edit:
    """Replaces `before`, which begins at `start`, with `after`."""

    kind: str
    start: int
    before: str
    after: str

    def apply(self, text: str) -> str:
        end = self.start + len(self.before)
        assert text[self.start : end] == self.before
        return text[: self.start] + self.after + text[end:]


_OPERATORS = {
    "arithmetic": {"+": "-", "-": "+", "*": "+", "/": "*", "%": "/", "<<": ">>", ">>": "<<", "+=": "-=", "-=": "+="}
    | {"*=": "+=", "/=": "*=", "<<=": ">>=", ">>=": "<<="},
    "bounds": {"<": "<=", "<=": "<", ">": ">=", ">=": ">"},
    "comparison": {"==": "!=", "!=": "==", "<": ">=", ">": "<="},
    "logic": {"&&": "||", "||": "&&"},
    "mask": {"&": "|", "|": "&", "^": "|", "&=": "|=", "|=": "&="},
}
# Names of functions, including Highway's, that are replaced before a parenthesis: `name>other`.
_FUNCTIONS = {
    kind: dict(pair.split(">", 1) for pair in pairs.split())
    for kind, pairs in {
        "arithmetic": "Add>Sub Sub>Add Mul>Add Div>Mul MulAdd>NegMulAdd NegMulAdd>MulAdd",
        "bounds": "Lt>Le Le>Lt Gt>Ge Ge>Gt",
        "comparison": "Eq>Ne Ne>Eq any_of>all_of all_of>any_of IsNaN>IsInf",
        "mask": "And>Or Or>And Xor>Or AndNot>And",
        "rounding": "Round>Trunc Floor>Ceil Ceil>Floor Trunc>Floor round>trunc floor>ceil ceil>floor trunc>floor "
        "rint>round nearbyint>round roundEven>round floorf>ceilf ceilf>floorf truncf>floorf roundf>truncf "
        "rintf>roundf nearbyintf>roundf round_to_odd>static_cast<float>",
        "choice": "min>max max>min Min>Max Max>Min smaller>larger larger>smaller front>back back>front "
        "lower_bound>upper_bound upper_bound>lower_bound rows>columns columns>rows",
    }.items()
}
_DELETED_CALLS = {"barrier", "memoryBarrierShared", "memoryBarrier", "groupMemoryBarrier", "subgroupBarrier"}
_JUMPS_AND_STEPS = {"continue", "break", "++", "--"}
_NO_STATEMENTS = {"return", "else", "do", "case", "default", "goto", "throw", "for", "if", "while"}
_AFTER_A_TARGET = {".", "->", "[", "(", "++", "--", "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>="}
_FLOATING = re.compile(r"(?P<number>(?:\d+\.\d*|\.\d+)(?:[eE][-+]?\d+)?|\d+[eE][-+]?\d+)(?P<suffix>[fFlL]{0,2})")
_HEXADECIMAL = re.compile(r"(?P<number>0[xX][0-9a-fA-F]+)(?P<suffix>[uUlL]*)")
_INTEGER = re.compile(r"(?P<number>\d+)(?P<suffix>[uUlL]*)")
KINDS = (
    *("arithmetic", "negation", "bounds", "comparison", "logic", "conjunct", "condition", "mask", "constant"),
    *("rounding", "choice", "field", "barrier", "statement"),
)


def edits_of(source: SourceText) -> Iterator[Edit]:
    """All edits, in the order of the text."""
    fields = _fields(source)
    for index in range(len(source.tokens)):
        if source.may_change(index):
            yield from _at_operator(source, index)
            yield from _at_word(source, index)
            yield from _at_number(source, index)
            yield from _at_field(source, index, fields)
            yield from _at_statement(source, index)


def _at_operator(source: SourceText, index: int) -> Iterator[Edit]:
    token = source.tokens[index]
    if token.binary:
        for kind, table in _OPERATORS.items():
            if token.text in table:
                yield Edit(kind, token.start, token.text, table[token.text])
        if token.text in ("&&", "||"):
            yield from _without_operand(source, index)
    elif token.text in ("-", "!", "~") and source.text[token.end : token.end + 1].strip():
        yield Edit({"-": "negation", "!": "logic", "~": "mask"}[token.text], token.start, token.text, "")


def _without_operand(source: SourceText, index: int) -> Iterator[Edit]:
    """Replaces `a && b` by b or a."""
    text, tokens = source.text, source.tokens
    ends = {";", ",", "?", ":", "=", "return", "&&", "||", "{", "}"}
    left = index - 1
    while left >= 0 and tokens[left].text not in ends and tokens[left].text not in "([":
        left = source.partner[left] - 1 if tokens[left].text in ")]" and left in source.partner else left - 1
    right = index + 1
    while right < len(tokens) and tokens[right].text not in ends and tokens[right].text not in ")]":
        right = source.partner[right] + 1 if tokens[right].text in "([" and right in source.partner else right + 1
    if left < 0 or right >= len(tokens) or right == index + 1 or left == index - 1:
        return
    begin, end = tokens[left + 1].start, tokens[right - 1].end
    yield Edit("conjunct", begin, text[begin : tokens[index + 1].start], "")
    yield Edit("conjunct", tokens[index - 1].end, text[tokens[index - 1].end : end], "")


def _at_word(source: SourceText, index: int) -> Iterator[Edit]:
    token = source.tokens[index]
    if token.kind != "word" or index + 1 == len(source.tokens):
        return
    if token.text in ("true", "false"):
        yield Edit("constant", token.start, token.text, "false" if token.text == "true" else "true")
    if token.text == "if" and source.tokens[index + 1].text == "(" and index + 1 in source.partner:
        begin, end = source.tokens[index + 1].end, source.tokens[source.partner[index + 1]].start
        condition = source.text[begin:end]
        if ";" not in condition:
            yield Edit("condition", begin, condition, f"!({condition})")
    if source.tokens[index + 1].text != "(":
        return
    for kind, table in _FUNCTIONS.items():
        if table.get(token.text, token.text) != token.text:
            yield Edit(kind, token.start, token.text, table[token.text])
    if token.text == "IfThenElse":
        yield from _exchanged(source, index)


def _exchanged(source: SourceText, index: int) -> Iterator[Edit]:
    """Replaces IfThenElse(mask, a, b) by IfThenElse(mask, b, a)."""
    close = source.partner.get(index + 1, index)
    commas, at = [], index + 2
    while at < close:
        if source.tokens[at].text == ",":
            commas.append(at)
        at = source.partner[at] if source.tokens[at].text in "([{" and at in source.partner else at
        at += 1
    if len(commas) != 2:
        return
    begin, middle, end = source.tokens[commas[0]].end, source.tokens[commas[1]].start, source.tokens[close].start
    a, b = source.text[begin:middle].strip(), source.text[middle + 1 : end].strip()
    before = source.text[begin:end]
    yield Edit("mask", begin, before, f" {b}, {a}")


def _at_number(source: SourceText, index: int) -> Iterator[Edit]:
    token = source.tokens[index]
    if token.kind != "number":
        return
    for after in numbers_near(token.text):
        yield Edit("constant", token.start, token.text, after)


def numbers_near(text: str) -> list[str]:
    """Plausible errors for a number: one more, one less, a bit, or the fourth digit."""
    if found := _HEXADECIMAL.fullmatch(text):
        value = int(found["number"], 16)
        return [f"{value ^ (value & -value):#x}{found['suffix']}"] if value else []
    if found := _INTEGER.fullmatch(text):
        value = int(found["number"])
        return [f"{near}{found['suffix']}" for near in ((value - 1, value + 1) if value else (1,))]
    if found := _FLOATING.fullmatch(text):
        number = float(found["number"])
        return [f"{f'{number * 1.001:#.12g}' if number else '1.0'}{found['suffix']}"]
    return []


def _fields(source: SourceText) -> dict[str, list[str]]:
    """The data members that the file reads of each object, in order: `p` has `keys`, `queries` and so on."""
    found: dict[str, set[str]] = {}
    tokens = source.tokens
    for index in range(1, len(tokens) - 2):
        if tokens[index].text in (".", "->") and tokens[index - 1].kind == "word" and tokens[index + 1].kind == "word":
            called = tokens[index + 2].text in ("(", "<") and not tokens[index + 2].binary
            found.setdefault(tokens[index - 1].text, set())
            if not called:
                found[tokens[index - 1].text].add(tokens[index + 1].text)
    return {name: sorted(members) for name, members in found.items()}


def _at_field(source: SourceText, index: int, fields: dict[str, list[str]]) -> Iterator[Edit]:
    tokens = source.tokens
    if not 2 <= index < len(tokens) or tokens[index - 1].text not in (".", "->") or tokens[index].kind != "word":
        return
    members = fields.get(tokens[index - 2].text, [])
    if tokens[index].text in members and len(members) > 1:
        after = members[(members.index(tokens[index].text) + 1) % len(members)]
        yield Edit("field", tokens[index].start, tokens[index].text, after)


def _at_statement(source: SourceText, index: int) -> Iterator[Edit]:
    """Deletes a statement that calls or assigns, a jump or a barrier; not a declaration, which other code needs."""
    tokens = source.tokens
    if index == 0 or tokens[index - 1].text not in (";", "{", "}", ")", "else") or tokens[index].kind == "punctuation":
        return
    end = index
    while end < len(tokens) and tokens[end].text not in ";{}":
        end = source.partner[end] if tokens[end].text in "([" and end in source.partner else end
        end += 1
    if end >= len(tokens) or tokens[end].text != ";" or end == index:
        return
    first, second = tokens[index], tokens[index + 1]
    if tokens[index - 1].text == ")" and not _closes_condition(source, index - 1):
        return
    before = source.text[first.start : tokens[end].end]
    if first.text in _DELETED_CALLS:
        yield Edit("barrier", first.start, before, "{}")
    elif first.text in _JUMPS_AND_STEPS or (
        first.kind == "word" and first.text not in _NO_STATEMENTS and second.text in _AFTER_A_TARGET
    ):
        yield Edit("statement", first.start, before, "{}")


def _closes_condition(source: SourceText, index: int) -> bool:
    """Whether a parenthesis closes the condition of an `if`, `for` or `while`."""
    opens = source.partner.get(index, 0)
    return opens > 0 and source.tokens[opens - 1].text in ("if", "for", "while", "constexpr")
