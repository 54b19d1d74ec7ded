"""The form of an array in a notebook: its dtype, shape, device, placement and a few values."""

from __future__ import annotations

from html.parser import HTMLParser
from typing import Any

import ferrule as fe
import numpy as np

from tests.python.each import each


class Table(HTMLParser):
    """The texts of a table's cells by row, and the text around it."""

    def __init__(self, array: Any) -> None:
        super().__init__()
        self.rows: list[list[str]] = []
        self.about = ""
        self._is_cell = self._is_style = False
        self.feed(array._repr_html_())
        self.close()

    def handle_starttag(self, tag: str, attrs: Any) -> None:
        assert tag in {"style", "div", "p", "b", "code", "span", "table", "tbody", "tr", "td"}
        if tag == "tr":
            self.rows.append([])
        if tag == "td":
            self.rows[-1].append("")
        self._is_cell, self._is_style = tag == "td", tag == "style"

    def handle_data(self, data: str) -> None:
        if self._is_cell:
            self.rows[-1][-1] += data.strip()
        elif not self._is_style:
            self.about += " " + data.strip()


def test_a_matrix_is_a_table() -> None:
    x = fe.asarray(np.float32([[1, 2.5], [-3, 4]]), copy=True)
    table = Table(x)
    assert table.rows == [["1.", "2.5"], ["-3.", "4."]]
    assert table.about.split() == ["float32", "(2,", "2)", "cpu:0", *x.placement.split()]
    assert Table(x.astype("int64")).rows == [["1", "2"], ["-3", "4"]]


@each("dtype", ["bool", "int8", "uint64", "float16", "bfloat16", "float64", "complex64"])
def test_values_of_each_dtype_are_numpys(dtype: str) -> None:
    x = fe.asarray([0, 1]).astype(dtype)
    assert Table(x).rows == [np.array2string(np.asarray(x), separator=",")[1:-1].replace(" ", "").split(",")]


def test_large_arrays_are_abbreviated_at_both_ends() -> None:
    table = Table(fe.asarray(np.arange(5000).reshape(50, 100)))
    assert len(table.rows) == 9
    assert table.rows[0] == ["0", "1", "2", "3", "…", "96", "97", "98", "99"]
    assert table.rows[4] == ["…"] * 9
    assert table.rows[8][-1] == "4999"
    assert Table(fe.arange(12)).rows == [[str(k) for k in range(12)]]
    many = Table(fe.asarray(np.arange(24).reshape(2, 3, 4)))
    assert many.rows == [["0", "1", "2", "3"], ["4", "5", "6", "7"], ["8", "9", "10", "11"]]
    assert "x[0]" in many.about


def test_values_of_another_device_are_fetched(null_module: Any) -> None:
    fe.load(null_module)
    assert Table(fe.ones((3, 40), device="null")).rows[0][4:5] == ["…"]
    fe.unload("null")


def test_arrays_without_values_are_described() -> None:
    assert Table(fe.ones((2, 0))).rows == []
    assert Table(fe.asarray(3)).rows == [["3"]]
    shown: list[Table] = []
    fe.graph(lambda x: shown.append(Table(x)) or x)(fe.ones(2))  # type: ignore[func-returns-value]
    assert shown[0].rows == []
    assert "traced" in shown[0].about
    x = fe.ones(2)
    fe.graph(lambda x: x + 1, donate=0)(x)
    assert "donated to" in Table(x).about


def test_print_options_apply() -> None:
    with np.printoptions(precision=2):
        assert Table(fe.asarray([1 / 3, 2 / 3])).rows == [["0.33", "0.67"]]
