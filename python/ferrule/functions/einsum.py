"""Einstein summation, as a sequence of matrix products."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Sequence
from typing import Any

from ferrule.array.array import Array
from ferrule.array.attributes import one_integer
from ferrule.array.recording import apply, as_companion
from ferrule.dtypes.classification import is_block
from ferrule.errors import DTypeError, InvalidArgumentError
from ferrule.functions.conversion import cast
from ferrule.functions.intermediate_dtypes import is_half, widened
from ferrule.functions.linear_algebra import matmul
from ferrule.functions.movement import permute_dims, reshape
from ferrule.functions.reduction import any as any_of, sum as sum_of
from ferrule.functions.type_information import result_type

__all__ = ["einsum"]

_LETTERS = string.ascii_uppercase + string.ascii_lowercase  # in the order of their codes

# An axis: a letter, or the place of an axis of "...", counted from its end, as -1.
Label = str | int
Labels = tuple[Label, ...]


def einsum(subscripts: Any, /, *operands: Any) -> Array:
    """Sum of products over axes that have the same letter.

    Parameters
    ----------
    subscripts : str
        A letter for each axis of each operand, and after "->" those of the result: "ij,jk->ik". Without "->" the result
        has the letters that occur once, in alphabetic order. "..." stands for further axes, which broadcast. A letter
        twice in an operand stands for its diagonal.
    *operands : Array
        The arrays. As in NumPy, each may be followed by a list of integers in place of its letters, without a text of
        subscripts: `einsum(x, [0, 1], y, [1, 2], [0, 2])`, where the last list is that of the result.

    Returns
    -------
    Array
        The result, in the dtype that the operands promote to. For bools it is whether any product is true.

    Raises
    ------
    DTypeError
        The operands have no common dtype.
    InvalidArgumentError
        The subscripts do not fit the operands.

    Notes
    -----
    Two operands at a time are multiplied: by the path of the package `opt_einsum` if it is installed, else the pair
    whose product is smallest in comparison with its factors. float16 and bfloat16 are computed in float32 and rounded
    once.

    Examples
    --------
    >>> x = fe.asarray([[1, 2], [3, 4]])
    >>> fe.einsum("ij,jk->ik", x, x).tolist()
    [[7, 10], [15, 22]]
    >>> fe.einsum("ii", x).item()
    5
    """
    if not isinstance(subscripts, str):
        subscripts, operands = _from_lists(subscripts, *operands)
    if not operands:
        raise InvalidArgumentError("einsum: there are no operands")
    arrays = [as_companion("einsum", x, *operands) for x in operands]
    for place, x in enumerate(arrays):
        if is_block(x.dtype):
            raise DTypeError(
                f"einsum: operand {place} is {x.dtype}{x.shape}, but needs a plain dtype; convert it with "
                "x.astype('float32')"
            )
    terms, result = _parsed(subscripts, [x.ndim for x in arrays])
    sizes = _sizes_of(subscripts, terms, arrays)
    for label in result:
        if label not in sizes:
            raise InvalidArgumentError(f"einsum: {subscripts!r}: {label!r} of the result is in no operand")
    parts = [_without_repeats(x, term, sizes) for x, term in zip(arrays, terms, strict=True)]
    dtype = result_type(*(x.dtype for x in arrays))
    if _rounds_between(parts, result):
        parts = [(widened(x) if is_half(x.dtype) else x, labels) for x, labels in parts]
    common = result_type(*(x.dtype for x, _ in parts))
    parts = [(cast(x, common), labels) for x, labels in parts]  # before any sum
    for group in _path(parts, result, sizes):
        chosen = [parts[place] for place in group]
        parts = [part for place, part in enumerate(parts) if place not in group]
        while len(chosen) > 1:
            others = [labels for _, labels in (*parts, *chosen[2:])]
            kept = {*result, *(label for labels in others for label in labels)}
            chosen = [_multiplied(chosen[0], chosen[1], kept, sizes), *chosen[2:]]
        parts.append(chosen[0])
    ((x, labels),) = parts
    x, labels = _summed(x, labels, {*result})
    order = [labels.index(label) for label in result if label in labels]
    if len(operands) == 1:  # a view, as in NumPy
        x = permute_dims(cast(x, dtype), order) if labels else cast(x, dtype)
        return reshape(x, [sizes[label] for label in result]) if len(labels) < len(result) else x
    return _shaped(_permuted(cast(x, dtype), order), [sizes[label] for label in result])


def _permuted(x: Array, order: Sequence[int]) -> Array:
    """Return x with its axes in another order, which is no view: making one takes longer than recording the op."""
    return x if [*order] == sorted(order) else apply("permute_dims", (x,), {"axes": order})


def _shaped(x: Array, shape: Sequence[int]) -> Array:
    return x if x.shape == (*shape,) else apply("reshape", (x,), {"shape": shape})


def _from_lists(*given: Any) -> tuple[str, tuple[Any, ...]]:
    """Return the subscripts, and the operands, of arrays that are followed by lists of integers each."""
    result = given[-1] if len(given) % 2 else None
    operands, lists = given[0 : len(given) - 1 : 2], given[1::2]
    if not lists or not all(isinstance(labels, (list, tuple)) for labels in (*lists, result or ())):
        raise InvalidArgumentError(
            f"einsum: subscripts is a text such as 'ij,jk->ik', not {type(given[0]).__name__}; the arrays follow it, "
            "or each array is followed by a list of integers"
        )
    words = [_word_of(labels) for labels in lists]
    return ",".join(words) + ("" if result is None else "->" + _word_of(result)), operands


def _word_of(labels: Sequence[Any]) -> str:
    """Return the letters of a list of integers and `...`; the order of the letters is that of the integers."""
    letters = []
    for label in labels:
        if label is not Ellipsis:
            place = one_integer(label, "einsum", "a label of an axis")
            if not 0 <= place < len(_LETTERS):
                raise InvalidArgumentError(f"einsum: labels of axes are from 0 to {len(_LETTERS) - 1}, not {place}")
            letters.append(_LETTERS[place])
        else:
            letters.append("...")
    return "".join(letters)


def _parsed(subscripts: str, ranks: Sequence[int]) -> tuple[list[Labels], Labels]:
    """Return the labels of the operands and of the result."""
    text = subscripts.replace(" ", "")
    left, arrow, right = text.partition("->")
    words = left.split(",")
    if len(words) != len(ranks):
        raise InvalidArgumentError(f"einsum: {subscripts!r} is for {len(words)} operands, and {len(ranks)} are given")
    terms = [_labels_of(subscripts, word, rank) for word, rank in zip(words, ranks, strict=True)]
    width = max((-label for term in terms for label in term if isinstance(label, int)), default=0)
    broadcast = tuple(range(-width, 0))
    if arrow:
        result = _labels_of(subscripts, right, right.count(".") and width + len(right) - 3, is_result=True)
        if len({*result}) < len(result):
            raise InvalidArgumentError(f"einsum: {subscripts!r}: a letter is twice in the result")
        return terms, result
    counts = Counter(label for term in terms for label in term if isinstance(label, str))
    return terms, (*broadcast, *sorted(label for label, count in counts.items() if count == 1))


def _labels_of(subscripts: str, word: str, rank: int, is_result: bool = False) -> Labels:
    before, dots, after = word.partition("...")
    letters = before + after
    if not all(letter.isascii() and letter.isalpha() for letter in letters):
        raise InvalidArgumentError(f"einsum: {subscripts!r}: {word!r} has other characters than letters and one '...'")
    width = rank - len(letters)
    if not is_result and (width < 0 or (width > 0 and not dots)):
        raise InvalidArgumentError(f"einsum: {subscripts!r}: {word!r} is for {len(letters)} axes, and there are {rank}")
    return (*before, *(range(-width, 0) if dots else ()), *after)


def _sizes_of(subscripts: str, terms: Sequence[Labels], arrays: Sequence[Array]) -> dict[Label, int]:
    """Return the length of each axis; one of length 1 broadcasts."""
    sizes: dict[Label, int] = {}
    for term, x in zip(terms, arrays, strict=True):
        own: dict[Label, int] = {}
        for label, size in zip(term, x.shape, strict=True):
            if own.setdefault(label, size) != size:
                raise InvalidArgumentError(
                    f"einsum: {subscripts!r}: a diagonal has axes of one length, and those of {label!r} in shape "
                    f"{x.shape} have the lengths {own[label]} and {size}"
                )
            known = sizes.setdefault(label, size)
            if known == 1:
                sizes[label] = size
            elif size not in (known, 1):
                which = "an axis of '...'" if isinstance(label, int) else f"axis {label!r}"
                raise InvalidArgumentError(f"einsum: {subscripts!r}: {which} has the lengths {known} and {size}")
    return sizes


def _rounds_between(parts: Sequence[tuple[Array, Labels]], result: Labels) -> bool:
    """Whether there are halves, to which results before that of the last op would be rounded."""
    if len(parts) == 1 or not any(is_half(x.dtype) for x, _ in parts):
        return False
    (_, left), (_, right) = parts[:2]
    return len(parts) > 2 or bool(({*left} ^ {*right}) - {*result})  # an operand is summed before the product


def _without_repeats(x: Array, labels: Labels, sizes: dict[Label, int]) -> tuple[Array, Labels]:
    """Return the diagonal of axes that have the same label, without the axes that broadcast."""
    broadcast = [place for place, label in enumerate(labels) if x.shape[place] == 1 and sizes[label] != 1]
    kept = [place for place in range(x.ndim) if place not in broadcast]
    if broadcast:
        x, labels = reshape(x, [x.shape[place] for place in kept]), tuple(labels[place] for place in kept)
    while len({*labels}) < len(labels):
        twice = next(label for label in labels if labels.count(label) > 1)
        first = labels.index(twice)
        second = labels.index(twice, first + 1)
        others = [place for place in range(x.ndim) if place not in (first, second)]
        size = x.shape[first]
        x = permute_dims(x, (*others, first, second))
        x = reshape(x, (*x.shape[:-2], size * size))[..., :: size + 1]
        labels = (*(labels[place] for place in others), twice)
    return x, labels


def _path(parts: Sequence[tuple[Array, Labels]], result: Labels, sizes: dict[Label, int]) -> list[tuple[int, ...]]:
    """Return the places of the operands to multiply in each step; their product is appended to the others."""
    terms = [labels for _, labels in parts]
    if len(terms) < 3:
        return [tuple(range(len(terms)))]
    try:
        import opt_einsum
    except ImportError:
        return _greedy_path(terms, result, sizes)
    symbols = {label: opt_einsum.get_symbol(place) for place, label in enumerate(sizes)}
    words = ["".join(symbols[label] for label in labels) for labels in (*terms, result)]
    found, _ = opt_einsum.contract_path(
        ",".join(words[:-1]) + "->" + words[-1], *(x.shape for x, _ in parts), shapes=True
    )
    return [tuple(step) for step in found]


def _greedy_path(terms: Sequence[Labels], result: Labels, sizes: dict[Label, int]) -> list[tuple[int, ...]]:
    """Multiply the pair whose product is smallest in comparison with its factors, the leftmost of equals."""
    left = [{*labels} for labels in terms]
    path: list[tuple[int, ...]] = []

    def size_of(labels: set[Label]) -> int:
        return math.prod(sizes[label] for label in labels)

    while len(left) > 1:
        best: tuple[int, int, int] | None = None
        for first in range(len(left)):
            for second in range(first + 1, len(left)):
                others = {*result}.union(*(labels for k, labels in enumerate(left) if k not in (first, second)))
                product = (left[first] | left[second]) & others
                cost = size_of(product) - size_of(left[first]) - size_of(left[second])
                if best is None or cost < best[0]:
                    best = cost, first, second
        assert best is not None
        _, first, second = best
        others = {*result}.union(*(labels for k, labels in enumerate(left) if k not in (first, second)))
        product = (left[first] | left[second]) & others
        left = [labels for k, labels in enumerate(left) if k not in (first, second)] + [product]
        path.append((first, second))
    return path


def _summed(x: Array, labels: Labels, kept: set[Label]) -> tuple[Array, Labels]:
    """Sum over the axes that are not kept."""
    axes = tuple(place for place, label in enumerate(labels) if label not in kept)
    if not axes:
        return x, labels
    # Integers are added in 64 bits.
    total = any_of(x, axis=axes) if x.dtype == "bool" else cast(sum_of(x, axis=axes), x.dtype)
    return total, tuple(label for label in labels if label in kept)


def _multiplied(
    left: tuple[Array, Labels], right: tuple[Array, Labels], kept: set[Label], sizes: dict[Label, int]
) -> tuple[Array, Labels]:
    """Multiply two operands, and sum over the axes that neither the result nor another operand has."""
    x, of_x = _summed(*left, kept | {*right[1]})
    y, of_y = _summed(*right, kept | {*of_x})
    shared = [label for label in of_x if label in of_y]
    batch = [label for label in shared if label in kept]
    inner = [label for label in shared if label not in kept]
    rows = [label for label in of_x if label not in shared]
    columns = [label for label in of_y if label not in shared]
    labels = (*batch, *rows, *columns)

    def arranged(array: Array, labels: Labels, order: Sequence[Label], shape: Sequence[int]) -> Array:
        return _shaped(_permuted(array, [labels.index(label) for label in order]), shape)

    def lengths(some: Sequence[Label]) -> list[int]:
        return [sizes[label] for label in some]

    if not inner:  # nothing is summed
        x = arranged(x, of_x, [*batch, *rows], [*lengths(batch), *lengths(rows), *(1 for _ in columns)])
        y = arranged(y, of_y, [*batch, *columns], [*lengths(batch), *(1 for _ in rows), *lengths(columns)])
        return apply("logical_and" if x.dtype == "bool" else "multiply", (x, y), {}), labels
    b, m, n, k = (math.prod(lengths(some)) for some in (batch, rows, columns, inner))
    stack = [b] if batch else []
    x = arranged(x, of_x, [*batch, *rows, *inner], [*stack, m, k])
    y = arranged(y, of_y, [*batch, *inner, *columns], [*stack, k, n])
    return _shaped(matmul(x, y), lengths(labels)), labels
