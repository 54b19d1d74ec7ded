"""`RecordedGraph`: a graph while it is built, by ops that are recorded or by the steps of a saved graph."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.attributes import Shape, attribute_of, sizes
from ferrule.array.comparison import MIRRORED, within_range
from ferrule.array.numbers import Number, Numbers, conversion
from ferrule.array.recording import no_array, number_dtype
from ferrule.array.symbols import Symbol, users_line
from ferrule.dtypes.classification import as_dtype, is_block
from ferrule.dtypes.default_dtypes import default_dtype
from ferrule.errors import InvalidArgumentError, TracingError
from ferrule.functions.asarray import asarray, from_packed
from ferrule.graphs import saved_graphs
from ferrule.loading.device_lookup import default_device, device as find_device
from ferrule.loading.devices import Device
from ferrule.process.locks import LockHolder


def _is_dense(shape: Sequence[int], strides: Sequence[int]) -> bool:
    """Whether the elements are contiguous in C order; strides of axes of length 1 do not matter."""
    expected = 1
    for size, stride in zip(reversed(shape), reversed(strides), strict=True):
        if size == 0:
            return True
        if size != 1 and stride != expected:
            return False
        expected *= size
    return True


class RecordedGraph(LockHolder):
    """Records ops for a device: the part of `Graph` that builds it."""

    def __init__(self, device: Device | str | None = None) -> None:
        self.device = default_device() if device is None else find_device(device)
        self._graph = _ferrule.Graph(self.device._handle)
        # _lock is held while a step is added to the core's graph and to the lists below, so that they agree. It is
        # never held during computing or compiling.
        super().__init__()
        self.inputs: list[Array] = []
        self.outputs: list[Array] = []
        self._steps: list[tuple[Any, ...]] = []  # how the graph was built, to save and rebuild it
        # By the identity of an array: its handle, the handle used (of a snapshot if it borrows), and its symbol.
        self._constants: dict[int, tuple[_ferrule.Array, _ferrule.Array, Array]] = {}
        self._numbers = Numbers()
        self._compiled: _ferrule.Compiled | None = None
        self._version = 0  # incremented when the inputs, numbers or outputs of the graph change
        self._closed = False
        # While a function is traced: by their ids, the arrays that it assigned to, with their handles before that.
        self._assigned: dict[int, tuple[weakref.ref[Array], _ferrule.Array]] | None = None

    # ---- building
    def input(
        self, shape: Shape, dtype: Any = None, name: str | None = None, strides: Sequence[int] | None = None
    ) -> Array:
        """Add an input.

        Parameters
        ----------
        shape : int or sequence of int
            The shape.
        dtype : dtype or str, optional
            The dtype; by default the default dtype.
        name : str, optional
            The name in `text` and `dot`; by default x0, x1, ...
        strides : sequence of int, optional
            The strides in elements; by default those of a C-contiguous array.

        Returns
        -------
        Array
            The traced array, for use in ops.

        Raises
        ------
        InvalidArgumentError
            The shape or the strides are invalid.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.input((2, 3), name="image")
        Array(traced, shape=(2, 3), dtype=float32, device=cpu:0)
        """
        wanted, element = sizes(shape, "input"), default_dtype() if dtype is None else as_dtype(dtype)
        steps = None if strides is None else list(strides)
        with self._lock:
            self._open("input")
            called = f"x{len(self.inputs)}" if name is None else name
            value = self._graph.input(called, element, wanted, steps)
            self._steps.append(("input", value, called, element.name, wanted, steps))
            symbol = self._symbol(value, self.device)
            self.inputs.append(symbol._another("input"))  # another object: the caller may assign to the returned one
            self._outdate()
        return symbol

    def constant(self, value: object, name: str | None = None) -> Array:
        """Add an array with the same value in each compute.

        Writable borrowed memory is copied now; `placement()` lists the constants that were copied.

        Parameters
        ----------
        value : array_like
            The value. An array that is a constant already is not added again.
        name : str, optional
            The name in `text` and `dot`; by default c0, c1, ...

        Returns
        -------
        Array
            The traced array, for use in ops.

        Raises
        ------
        TracingError
            The trace of this graph has ended.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(2) + g.constant(np.ones(2, "float32")))
        >>> g.compute(fe.zeros(2)).tolist()
        [1.0, 1.0]
        """
        self._open("constant")
        array = value if isinstance(value, Array) else asarray(value, device=self.device)
        what = "Graph.constant()"
        handle = array._computed(what, wait=False)
        identity = handle.identity
        with self._lock:
            known = self._constants.get(identity)
        if known is not None:
            return known[2]._another(what)  # another object: the caller may assign to it
        kept = Array._of(handle)._snapshot(what)._concrete(what)  # may copy, so not under the lock
        with self._lock:
            self._open("constant")
            if identity in self._constants:
                return self._constants[identity][2]._another(what)
            called = f"c{len(self._constants)}" if name is None else name
            value_id = self._graph.constant(called, kept)
            self._steps.append(("constant", value_id, called, len(self._constants), handle.dtype.name))
            symbol = self._symbol(value_id)
            self._constants[identity] = (handle, kept, symbol)
        return symbol._another(what)

    def apply(self, op: str, *inputs: object, device: Device | str | None = None, **attributes: object) -> Array:
        """Record an op with one output by its name.

        Parameters
        ----------
        op : str
            The name of the op.
        *inputs : Array, numpy.ndarray or number
            The inputs.
        device : Device or str, optional
            The device to run the op on, if it differs from the graph's.
        **attributes : object
            The attributes of the op.

        Returns
        -------
        Array
            The output.

        Raises
        ------
        InvalidArgumentError
            There is no such op, it has several outputs, or it refuses the inputs or attributes.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.apply("softmax", g.input((2, 3)), axis=-1).shape
        (2, 3)
        """
        results = self.apply_all(op, *inputs, device=device, **attributes)
        if len(results) != 1:
            raise InvalidArgumentError(f"{op}: has {len(results)} outputs; Graph.apply_all gives them")
        return results[0]

    def apply_all(
        self, op: str, *inputs: object, device: Device | str | None = None, **attributes: object
    ) -> list[Array]:
        """Record an op with any number of outputs by its name.

        Parameters
        ----------
        op : str
            The name of the op.
        *inputs : Array, numpy.ndarray or number
            The inputs.
        device : Device or str, optional
            The device to run the op on, if it differs from the graph's.
        **attributes : object
            The attributes of the op.

        Returns
        -------
        list of Array
            The outputs.

        Raises
        ------
        InvalidArgumentError
            There is no such op, or it refuses the inputs or attributes.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> values, indices = g.apply_all("topk", g.input((2, 3)), k=2)
        >>> values.shape
        (2, 2)
        """
        self._open(op)
        operands = [self.constant(x) if isinstance(x, np.ndarray) else x for x in inputs]
        dtypes = [x.dtype for x in operands if isinstance(x, Array) and not self._is_weak(x)]
        complete = {name: attribute_of(op, name, value) for name, value in attributes.items()}
        if op in MIRRORED:
            op, operands = within_range(op, operands, dtypes)
        return self._record_all(op, operands, dtypes, complete, None if device is None else find_device(device))

    def output(self, *arrays: Array) -> None:
        """Add outputs; `compute` returns them in the order in which they were added.

        Parameters
        ----------
        *arrays : Array
            Arrays of this graph.

        Raises
        ------
        InvalidArgumentError
            An array does not belong to this graph.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> x = g.input(3)
        >>> g.output(x + 1, x * 2)
        >>> len(g.outputs)
        2
        """
        with self._lock:
            self._open("output")
            for array in arrays:
                symbol = self._own(array)
                if symbol.place not in (None, self.device):
                    raise InvalidArgumentError(
                        f"output: {symbol.dtype}{symbol.shape} lies on {symbol.place}, and the results of this graph "
                        f"lie on {self.device}; bring it back with to_device"
                    )
                # A result has its own memory: an input, a constant or another output is copied.
                same = [*self.inputs, *self.outputs, *(known for _, _, known in self._constants.values())]
                if symbol.weak or any(self._own(other).id == symbol.id for other in same):
                    symbol = self._own(self._record_all("copy", [array], [], {})[0])
                self._graph.output(symbol.id)
                self._steps.append(("output", symbol.id))
                self.outputs.append(Array._of(symbol))
                self._outdate()

    def _record_all(
        self,
        op: str,
        operands: Sequence[object],
        dtypes: Sequence[np.dtype[Any]],
        attributes: Mapping[str, object],
        device: Device | None = None,
    ) -> list[Array]:
        """Record an op on symbols of this graph, arrays (they become constants) and numbers, and return its outputs."""
        self._open(op)
        for operand in operands:
            if isinstance(operand, Array) and not isinstance(operand._handle, Symbol):
                operand._computed(op, wait=False)  # computes, so before taking the lock
        place = self._place_of(op, operands) if device is None else None
        if place not in (None, self.device):
            device = place
        kept = saved_graphs.kept_attributes(attributes)
        with self._lock:
            self._open(op)
            ids, weak = [], []
            for operand in operands:
                symbol, is_weak = self._value(op, operand, dtypes)
                ids.append(symbol.id)
                weak.append(is_weak)
            handle = None if device is None else device._handle
            values = self._graph.apply(op, ids, weak if any(weak) else (), attributes, handle)
            self._steps.append(("apply", values, op, ids, weak, kept, None if device is None else device.name))
            return [self._symbol(value, place) for value in values]

    def _place_of(self, op: str, operands: Sequence[object]) -> Device:
        """Return the device of the operands."""
        found: Device | None = None
        for operand in operands:
            symbol = operand._handle if isinstance(operand, Array) else None
            place = symbol.place if isinstance(symbol, Symbol) else None
            if found is not None and place is not None and place != found:
                raise InvalidArgumentError(
                    f"{op}: its inputs lie on {found} and {place}; bring them together with to_device"
                )
            found = found or place
        return found or self.device

    def _placed(self, array: Array, device: Device) -> Array:
        """Return the value as one of another device: ops on it are computed there."""
        symbol = self._own(array)
        return Array._of(Symbol(self, symbol.id, symbol.dtype, symbol.shape, place=device))

    def _value(self, op: str, operand: object, dtypes: Sequence[np.dtype[Any]]) -> tuple[Symbol, bool]:
        if isinstance(operand, Array):
            if not isinstance(operand._handle, Symbol):
                operand = self.constant(operand)
            symbol = self._own(operand)
            if not symbol.weak:
                return symbol, False
            dtype, is_weak = number_dtype(op, self._numbers.values[symbol.id], dtypes)
            return self._own(self._number_as(operand, dtype)), is_weak
        if not isinstance(operand, (int, float)):
            raise no_array(op, operand)
        dtype, is_weak = number_dtype(op, operand, dtypes)
        return self._own(self._scalar(operand, dtype)), is_weak

    def _scalar(self, number: Number, dtype: np.dtype[Any], place: int | None = None) -> Array:
        """Add a scalar of the graph. With `place`, each compute sets it to the number of that place."""
        with self._lock:
            value = self._graph.scalar(dtype, number)
            self._numbers.scalars.append((place, number))
            self._steps.append(("scalar", value, dtype.name, number, place))
            return self._symbol(value)

    def _operand(self, number: Number, name: str | None = None) -> Array:
        """Add a Python number that each compute passes; `name`: of the argument, for messages."""
        with self._lock:
            self._outdate()
            return self._number(self._numbers.operand(number), name)

    def _number(self, place: int, name: str | None = None) -> Array:
        kind = type(self._numbers.values[place])
        dtype = default_dtype() if kind is float else np.dtype("int64" if kind is int else "bool")
        return Array._of(Symbol(self, place, dtype, (), weak=True, name=name))

    def _number_of(self, operation: str, *values: object) -> Array:
        """Add the result of Python's operator on numbers."""
        with self._lock:
            self._open(operation)
            places = [
                self._own(value).id if isinstance(value, Array) else self._numbers.literal(value)  # type: ignore[arg-type]
                for value in values
            ]
            return self._number(self._numbers.compute(operation, *places))

    def _number_as(self, number: Array, dtype: np.dtype[Any], exact: bool = False) -> Array:
        """Add a scalar for a number, converted as in NumPy's assignment; `exact` refuses conversions with a loss."""
        place = self._own(number).id
        operation = conversion(type(self._numbers.values[place]).__name__, dtype, exact)
        with self._lock:
            if operation is not None:
                place = self._numbers.compute(operation, place)
            return self._scalar(self._numbers.values[place], dtype, place)

    def _input_like(self, array: Array) -> Array:
        handle = array._computed("ferrule.graph", wait=False)
        strides = handle.strides
        assert strides is not None
        # The copy of an array from another device is dense. Asking for the address waits for the array.
        if array.device != self.device or _is_dense(array.shape, strides) or handle.address is None:
            strides = None
        return self.input(array.shape, array.dtype, strides=strides)

    def _symbol(self, value: int, place: Device | None = None) -> Array:
        return Array._of(Symbol(self, value, *self._graph.type(value), place=place))

    def _own(self, array: Array) -> Symbol:
        symbol = array._handle
        if not isinstance(symbol, Symbol) or symbol.graph is not self:
            raise InvalidArgumentError("the array is not a value of this graph")
        return symbol

    @staticmethod
    def _is_weak(array: Array) -> bool:
        return isinstance(array._handle, Symbol) and array._handle.weak

    def _open(self, what: str) -> None:
        if self._closed:
            raise TracingError(f"{what} on an array of a trace that has ended, at {users_line()}")

    def _close(self) -> None:
        with self._lock:
            self._closed = True

    def _outdate(self) -> None:
        """Drop the compiled graph, whose inputs, numbers or outputs are not those of the graph any more."""
        self._compiled = None
        self._version += 1

    def _rebuild(self, saved: saved_graphs.SavedGraph) -> None:
        symbols: dict[int, Array] = {}
        for index, number in enumerate(saved.numbers):
            with saved_graphs.named(f"number {index}"):
                saved_graphs.replay_number(self._numbers, number)
        for index, step in enumerate(saved.steps):
            with saved_graphs.named(f"step {index}"):
                self._replay(saved_graphs.checked_step(step, symbols, len(self._numbers.values)), symbols, saved)

    def _replay(self, step: tuple[Any, ...], symbols: dict[int, Array], saved: saved_graphs.SavedGraph) -> None:
        kind, value = step[0], step[1]
        if kind == "input":
            symbols[value] = self.input(step[4], step[3], step[2], step[5])
        elif kind == "constant":
            known = saved_graphs.constant_in(saved, step[3], step[4])
            is_packed = is_block(as_dtype(step[4]))
            array = from_packed(known, step[4], device=self.device) if is_packed else asarray(known, device=self.device)
            symbols[value] = self.constant(array, step[2])
        elif kind == "scalar":
            symbols[value] = self._scalar(step[3], as_dtype(step[2]), step[4])
        elif kind == "apply":
            _, _, op, ids, weak, kept, place = step
            attributes = saved_graphs.attributes_in(kept)
            device = None if place is None else find_device(place)._handle
            inputs = [self._own(symbols[i]).id for i in ids]
            made = self._graph.apply(op, inputs, weak if any(weak) else (), attributes, device)
            self._steps.append(("apply", made, op, inputs, weak, kept, place))
            if len(value) != len(made):
                raise InvalidArgumentError(f"it has {len(value)} values for the {len(made)} outputs of {op}")
            symbols.update(zip(value, map(self._symbol, made), strict=True))
        else:
            self.output(symbols[value])
