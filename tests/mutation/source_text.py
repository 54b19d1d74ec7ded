"""The tokens of a C++ or GLSL file that a fault may change.

Comments, strings, preprocessor lines, static_asserts, template parameter lists and the tables of elementwise
kernels are left out. The tree is formatted by clang-format (`./dev lint`), so spaces distinguish operators: a
binary operator has them on both sides, and the `*`, `&` and `<` of a type do not.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

from pygments.lexers.c_cpp import CppLexer
from pygments.token import Comment, Keyword, Name, Number, Operator, Punctuation

_BINARY = ("<<=", ">>=", "&&", "||", "==", "!=", "<=", ">=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<", ">>")
_LONG = re.compile("|".join(map(re.escape, (*_BINARY, "->", "++", "--", "::"))) + "|.")
_SKIPPED_CALLS = {"static_assert", "layout", "alignas", "assert", "ELEMENTWISE", "__attribute__", "decltype", "sizeof"}
_SKIPPED_STATEMENTS = {"using", "typedef", "namespace"}
_CLOSING = {"(": ")", "[": "]", "{": "}"}


@dataclass(frozen=True)
class Token:
    start: int
    text: str
    kind: str  # "word", "number", "operator", "punctuation"
    binary: bool = False  # an operator between two operands

    @property
    def end(self) -> int:
        return self.start + len(self.text)


class SourceText:
    """`tokens` are the tokens of the code; `may_change(index)` says whether a fault may begin at one."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = list(_tokens(text))

    def line_of(self, offset: int) -> int:
        return self.text.count("\n", 0, offset) + 1

    @cached_property
    def partner(self) -> dict[int, int]:
        """The index of the closing bracket by the index of the opening one, and vice versa."""
        found: dict[int, int] = {}
        opened: list[int] = []
        for index, token in enumerate(self.tokens):
            if token.text in _CLOSING:
                opened.append(index)
            elif token.text in _CLOSING.values() and opened:
                found[index] = opened.pop()
                found[found[index]] = index
        return found

    @cached_property
    def _skipped(self) -> set[int]:
        skipped: set[int] = set()
        for index, token in enumerate(self.tokens):
            if token.text in _SKIPPED_CALLS and self._text(index + 1) == "(":
                skipped.update(range(index, self.partner.get(index + 1, index) + 1))
            elif token.text == "KERNEL" and self._text(index + 1) == "(":
                # In a kernel's row: numbers and flags, but not the dtypes that it supports.
                inside = range(index, self.partner.get(index + 1, index) + 1)
                skipped.update(at for at in inside if self.tokens[at].text not in ("true", "false", *"0123456789"))
            elif token.text in _SKIPPED_STATEMENTS:
                skipped.update(self._until(index, ";{"))
            elif token.text == "template" and self._text(index + 1) == "<":
                skipped.update(range(index, self._end_of_angle(index + 1) + 1))
            elif token.text == "[" and self._declares_array(index):
                skipped.update(range(index, self.partner.get(index, index) + 1))
        return skipped

    def may_change(self, index: int) -> bool:
        return index not in self._skipped

    def _text(self, index: int) -> str:
        return self.tokens[index].text if 0 <= index < len(self.tokens) else ""

    def _until(self, index: int, ends: str) -> range:
        end = index
        while end < len(self.tokens) and self.tokens[end].text not in ends:
            end += 1
        return range(index, end)

    def _end_of_angle(self, index: int) -> int:
        depth = 0
        while index < len(self.tokens):
            text = self.tokens[index].text
            depth += {"<": 1, "<<": 2, ">": -1, ">>": -2}.get(text, 0) if not self.tokens[index].binary else 0
            if depth <= 0:
                return index
            index += 1
        return index - 1

    def _declares_array(self, index: int) -> bool:
        """Whether this bracket contains an array size, as in `T level[48]`: one element more has no visible effect."""
        before, name = self.tokens[index - 2 : index - 1], self.tokens[index - 1 : index]
        if not before or name[0].kind != "word" or name[0].text in ("return", "else"):
            return False
        return (before[0].kind == "word" and before[0].text not in ("return", "else", "case")) or before[0].text == ">"


def _tokens(text: str) -> Iterator[Token]:
    directives = _preprocessor(text)
    run = ""  # adjacent operator characters
    begin = 0
    for start, kind, value in CppLexer(stripnl=False, ensurenl=False).get_tokens_unprocessed(text):
        is_operator = (kind in Operator or (kind in Punctuation and value in "<>:")) and not value.isalpha()
        if run and (not is_operator or start != begin + len(run)):
            yield from _operators(text, begin, run)
            run = ""
        if start in directives or not value.strip() or kind in Comment:
            continue
        if is_operator:
            begin = start if not run else begin
            run += value
        elif kind in Number:
            yield Token(start, value, "number")
        elif kind in Name or kind in Keyword or kind in Operator:
            for word in re.finditer(r"\w+|\S", value):
                yield Token(start + word.start(), word[0], "word" if word[0][0].isidentifier() else "punctuation")
        elif kind in Punctuation:
            for place, character in enumerate(value):
                yield Token(start + place, character, "punctuation")
    if run:
        yield from _operators(text, begin, run)


def _operators(text: str, begin: int, run: str) -> Iterator[Token]:
    for found in _LONG.finditer(run):
        start, end = begin + found.start(), begin + found.end()
        spaced = text[start - 1 : start].isspace() and (text[end : end + 1].isspace() or not text[end:])
        yield Token(start, found[0], "operator", spaced and found[0] not in ("=", "?", ":", "::", "!", "~", "->"))


def _preprocessor(text: str) -> set[int]:
    """The offsets of the preprocessor lines, including those continued by a backslash."""
    offsets: set[int] = set()
    start, goes_on = 0, False
    for line in text.splitlines(keepends=True):
        if goes_on or line.lstrip().startswith("#"):
            offsets.update(range(start, start + len(line)))
            goes_on = line.rstrip("\n").endswith("\\")
        start += len(line)
    return offsets
