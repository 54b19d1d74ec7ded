"""Typical mistakes of authors, as changes of a generated backend. The kit must find each."""

from __future__ import annotations

from dataclasses import dataclass

SOFTMAX = "kernels/softmax.cpp"


@dataclass(frozen=True)
class Mutant:
    name: str
    file: str
    before: str
    after: str
    check: str  # the check of the kit that fails
    op: str = "softmax"
    says: str = ""  # part of its message

    def of(self, text: str) -> str:
        """The text of the file with the fault inserted."""
        count = text.count(self.before)
        assert count == 1, f"{self.name}: {self.file} has {count} times {self.before!r}"
        return text.replace(self.before, self.after)


MUTANTS = (
    Mutant(
        "off by one write",
        SOFTMAX,
        "for (int64_t i = 0; i < size; ++i) y[i * y_stride] = static_cast<float>(y[i * y_stride] / sum);",
        "for (int64_t i = 0; i <= size; ++i) y[i * y_stride] = static_cast<float>(y[i * y_stride] / sum);",
        "guards",
    ),
    Mutant(
        "wrong reduction axis",
        SOFTMAX,
        "node.attributes<fe_softmax_attributes>().axis);",
        "y.rank() - 1);",
        "values",
    ),
    Mutant(
        "NaN dropped",
        SOFTMAX,
        "sum += power;",
        "sum += std::isnan(power) ? 0 : power;",
        "nan",
    ),
    # Within the allowed error: a large batch is rounded differently.
    Mutant(
        "depends on the batch",
        SOFTMAX,
        "to + first, inner, size);",
        "to + first, inner, size);\n                if (rows > 8) to[first] = std::nextafter(to[first], 0.0f);",
        "batch",
    ),
    Mutant(
        "aborts on an empty tensor",
        "kernels/sum.cpp",
        "const auto* const from = launch.pointer<const float>(x);",
        "if (x.count() == 0) std::abort();\n            const auto* const from = launch.pointer<const float>(x);",
        "shapes",
        op="sum",
        says="crashed",
    ),
)
