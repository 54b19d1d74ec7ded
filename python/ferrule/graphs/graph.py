"""`Graph`: building by hand, compiling, computing, inspecting and saving."""

from __future__ import annotations

import io
import json
import os
import weakref
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.array.attributes import Shape, attribute_of, sizes
from ferrule.array.comparison import MIRRORED, within_range
from ferrule.array.numbers import Number, Numbers, conversion
from ferrule.array.recording import no_array, number_dtype
from ferrule.array.symbols import Symbol, users_line
from ferrule.dtypes.classification import as_dtype, is_block
from ferrule.errors import InvalidArgumentError, TracingError, UnsupportedError
from ferrule.functions.creation import asarray, from_packed, to_packed
from ferrule.graphs import saved_graphs
from ferrule.loading.device_lookup import best_device
from ferrule.loading.device_lookup import device as find_device
from ferrule.loading.devices import Device
from ferrule.process.locks import LockHolder


def _bytes_of(constant: Array) -> NDArray[Any]:
    """Return a constant as a NumPy array that `numpy.savez` can write."""
    return to_packed(constant) if is_block(constant.dtype) else np.asarray(constant)


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


class Graph(LockHolder):
    """A graph for one device. The functions and operators of arrays record ops on its inputs.

    Any thread may record, compile, compute and save at the same time: computing and saving use the graph as it was at
    one moment, with complete ops.

    Parameters
    ----------
    device : Device or str, optional
        The device that computes the graph; by default the best device.

    Attributes
    ----------
    device : Device
        The device that computes the graph.
    inputs : list of Array
        The inputs, in the order of `compute`.
    outputs : list of Array
        The outputs, in the order of `compute`.

    Raises
    ------
    NotFoundError
        There is no such device.

    Examples
    --------
    >>> g = fe.Graph("cpu")
    >>> x = g.input((2, 3))
    >>> g.output(x * 2 + 1)
    >>> g.compute(np.ones((2, 3), "float32")).tolist()
    [[3.0, 3.0, 3.0], [3.0, 3.0, 3.0]]
    """

    def __init__(self, device: Device | str | None = None) -> None:
        self.device = best_device() if device is None else find_device(device)
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
        # While a function is traced: the arrays from outside that it assigned to, with their handles before that.
        self._assigned: list[tuple[weakref.ref[Array], _ferrule.Array]] | None = None

    # ---- building
    def input(
        self, shape: Shape, dtype: Any = "float32", name: str | None = None, strides: Sequence[int] | None = None
    ) -> Array:
        """Add an input.

        Parameters
        ----------
        shape : int or sequence of int
            The shape.
        dtype : dtype or str
            The dtype.
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
        wanted, element = sizes(shape, "input"), as_dtype(dtype)
        steps = None if strides is None else list(strides)
        with self._lock:
            self._open("input")
            called = f"x{len(self.inputs)}" if name is None else name
            value = self._graph.input(called, element, wanted, steps)
            self._steps.append(("input", value, called, element.name, wanted, steps))
            symbol = self._symbol(value)
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
                # A result has its own memory: an input, a constant or another output is copied.
                same = [*self.inputs, *self.outputs, *(known for _, _, known in self._constants.values())]
                if symbol.weak or any(other._handle is symbol for other in same):
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
        place = None if device is None else device._handle
        kept = saved_graphs.kept_attributes(attributes)
        with self._lock:
            self._open(op)
            ids, weak = [], []
            for operand in operands:
                symbol, is_weak = self._value(op, operand, dtypes)
                ids.append(symbol.id)
                weak.append(is_weak)
            values = self._graph.apply(op, ids, weak if any(weak) else (), attributes, place)
            self._steps.append(("apply", values, op, ids, weak, kept, None if device is None else device.name))
            return list(map(self._symbol, values))

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
        dtype = np.dtype("float32" if kind is float else "int64" if kind is int else "bool")
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

    def _symbol(self, value: int) -> Array:
        return Array._of(Symbol(self, value, *self._graph.type(value)))

    def _own(self, array: Array) -> Symbol:
        symbol = array._handle
        if not isinstance(symbol, Symbol) or symbol.graph is not self:
            raise InvalidArgumentError("the array is no value of this graph")
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

    # ---- computing
    def compile(self, *, fallback: str = "warn", fuse: bool = True, guard: bool = False) -> Graph:
        """Compile the graph for its device. Errors of support and memory are raised here; `compute` compiles if needed.

        Parameters
        ----------
        fallback : {"warn", "allow", "error"}
            What to do about ops that the device does not support: run them on the CPU with a warning, run them on the
            CPU without one, or raise an error.
        fuse : bool
            Whether elementwise ops are fused.
        guard : bool
            Surround all memory that a backend writes with known bytes, and raise an error if it changes them: for
            authors of backends.

        Returns
        -------
        Graph
            This graph.

        Raises
        ------
        InvalidArgumentError
            The graph has no outputs.
        UnsupportedError
            The device does not support an op, and `fallback` is "error".

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(fe.exp(g.input(3)))
        >>> g.compile(fallback="error")
        Graph(cpu:0, 1 inputs, 3 steps, 1 outputs)
        """
        self._compile(fallback, fuse, guard)
        return self

    def _compile(self, fallback: str, fuse: bool, guard: bool) -> _ferrule.Compiled:
        if not self.outputs:
            raise InvalidArgumentError("compile: the graph has no outputs")
        version = self._version
        compiled = self._graph.compile(json.dumps({"fallback": fallback, "fuse": fuse, "guard": guard}))
        with self._lock:
            if version == self._version:
                self._compiled = compiled
        return compiled

    def _compiled_handle(self) -> _ferrule.Compiled:
        compiled = self._compiled
        return self._compile("warn", fuse=True, guard=False) if compiled is None else compiled

    def compute(self, *arrays: object, out: NDArray[Any] | Sequence[NDArray[Any]] | None = None) -> Any:
        """Compute the outputs.

        Parameters
        ----------
        *arrays : array_like
            The inputs, in the order in which they were added.
        out : numpy.ndarray or sequence of numpy.ndarray, optional
            C-contiguous arrays of the outputs' shapes and dtypes to write the results to.

        Returns
        -------
        Array or tuple of Array
            The output, or several outputs; `out` if it is given.

        Raises
        ------
        InvalidArgumentError
            The number, dtype or shape of the inputs or of `out` is wrong.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + 1)
        >>> g.compute(fe.zeros(3)).tolist()
        [1.0, 1.0, 1.0]
        >>> g.compute(fe.zeros(3), out=np.empty(3, "float32"))
        array([1., 1., 1.], dtype=float32)
        """
        count = len(self.inputs)
        numbers = [number for number in arrays[count:] if isinstance(number, (int, float))]
        if len(arrays) != count + len(numbers) or len(numbers) not in (0, self._numbers.operand_count):
            raise InvalidArgumentError(f"compute: takes {count} arrays, not {len(arrays)}")
        handles = [
            (array if type(array) is Array else asarray(array, device=self.device))._concrete("compute()")
            for array in arrays[:count]
        ]
        scalars = self._numbers.scalars_of(numbers) if numbers else []
        if out is None:
            results = self._compiled_handle().compute(handles, scalars, None)
            made = tuple(Array._of(result) for result in results if result is not None)
            return made[0] if len(made) == 1 else made
        targets: list[Any] = [*out] if isinstance(out, (list, tuple)) else [out]
        self._check_out(targets)
        self._compiled_handle().compute(handles, scalars, targets)
        return out

    def _check_out(self, targets: Sequence[NDArray[Any]]) -> None:
        outputs = list(self.outputs)
        if len(targets) != len(outputs):
            raise InvalidArgumentError(f"out: the graph has {len(outputs)} outputs, not {len(targets)}")
        for target, wanted in zip(targets, outputs, strict=True):
            if not isinstance(target, np.ndarray):
                raise InvalidArgumentError(f"out: takes NumPy arrays, not {type(target).__name__}")
            if target.dtype != wanted.dtype or target.shape != wanted.shape or not target.dtype.isnative:
                raise InvalidArgumentError(f"out: is {target.dtype}{target.shape}, not {wanted.dtype}{wanted.shape}")
            if not (target.flags.c_contiguous and target.flags.writeable and target.flags.aligned):
                raise InvalidArgumentError("out: must be C-contiguous, aligned and writable")
        for place, target in enumerate(targets):
            if any(np.shares_memory(target, other) for other in targets[:place]):
                raise InvalidArgumentError("out: two of the arrays share memory")

    # ---- inspecting
    def text(self) -> str:
        """Return the graph as text, one line for each node.

        Returns
        -------
        str
            The text.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + 1)
        >>> print(g.text(), end="")
        %0 = input x0 : float32(3,)
        %1 = scalar : float32()
        %2 = add(%0, %1) : float32(3,)
        return %2
        """
        return self._graph.text("text")

    def dot(self) -> str:
        """Return the graph in Graphviz's DOT language.

        Returns
        -------
        str
            The DOT source.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + 1)
        >>> g.dot().startswith("digraph")
        True
        """
        return self._graph.text("dot")

    def svg(self) -> str:
        """Return a drawing of the graph, made by Graphviz's `dot`.

        Returns
        -------
        str
            The SVG source.

        Raises
        ------
        UnsupportedError
            The program `dot` is not installed, or fails.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + 1)
        >>> "</svg>" in g.svg()
        True
        """
        import shutil
        import subprocess

        program = shutil.which("dot")
        if program is None:
            raise UnsupportedError("svg: needs the program `dot`; install graphviz")
        drawn = subprocess.run([program, "-Tsvg"], input=self.dot(), capture_output=True, text=True, check=False)
        if drawn.returncode != 0:
            raise UnsupportedError(f"svg: {program} failed: {drawn.stderr.strip()}")
        return drawn.stdout

    def _repr_svg_(self) -> str | None:
        import shutil

        return self.svg() if shutil.which("dot") else None

    @property
    def plan(self) -> Any:
        """The compiled plan: for each node its device, kernel and bytes; and the size of the workspace.

        Compiles the graph if needed.
        """
        return json.loads(self._compiled_handle().plan())

    def placement(self) -> Any:
        """Return where each node runs and where the memory of each constant comes from.

        Returns
        -------
        dict
            "nodes" lists the device of each node, with the reason if it is not the requested one; "constants" lists the
            placement of each constant.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + g.constant(np.ones(3, "float32")))
        >>> [constant["placement"] for constant in g.placement()["constants"]]
        ['copied: the owner of the memory may write to it']
        """
        return json.loads(self._compiled_handle().placement())

    def __str__(self) -> str:
        return self.text()

    def __repr__(self) -> str:
        return f"Graph({self.device}, {len(self.inputs)} inputs, {len(self._steps)} steps, {len(self.outputs)} outputs)"

    # ---- saving
    def to_bytes(self) -> bytes:
        """Return the graph as bytes: its steps and constants, in an .npz with the steps as JSON.

        Returns
        -------
        bytes
            For `from_bytes`.

        Raises
        ------
        InvalidArgumentError
            A number of the graph cannot be written.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + 1)
        >>> fe.Graph.from_bytes(g.to_bytes()).compute(fe.zeros(3)).tolist()
        [1.0, 1.0, 1.0]
        """
        with self._lock:
            recorded, constants = list(self._steps), self._concrete_constants()
            numbers = list(zip(self._numbers.steps, self._numbers.values, strict=True))
        described = {"format": saved_graphs.FORMAT, "device": self.device.name, "numbers": numbers, "steps": recorded}
        try:
            steps = json.dumps(described)
        except ValueError as error:  # Python refuses to write ints of thousands of digits
            raise InvalidArgumentError(f"Graph.to_bytes: a number of the graph cannot be written: {error}") from error
        arrays = {f"constant{place}": _bytes_of(known) for place, (known, _) in enumerate(constants)}
        file = io.BytesIO()
        np.savez(file, allow_pickle=False, steps=np.frombuffer(steps.encode(), dtype=np.uint8), **arrays)
        return file.getvalue()

    def _concrete_constants(self) -> list[tuple[Array, Array]]:
        return [(Array._of(kept), symbol) for _, kept, symbol in self._constants.values()]

    @classmethod
    def from_bytes(cls, data: bytes, device: Device | str | None = None) -> Graph:
        """Return the graph that `to_bytes` wrote.

        Parameters
        ----------
        data : bytes
            The result of `to_bytes`.
        device : Device or str, optional
            The device; by default the device of the saved name.

        Returns
        -------
        Graph
            A new graph.

        Raises
        ------
        InvalidArgumentError
            The bytes are not a saved graph, or are damaged.
        UnsupportedError
            The graph was saved in another format.

        Examples
        --------
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + 1)
        >>> fe.Graph.from_bytes(g.to_bytes())
        Graph(cpu:0, 1 inputs, 4 steps, 1 outputs)
        """
        return cls._from_bytes(data, device, "this")

    @classmethod
    def _from_bytes(cls, data: bytes, device: Device | str | None, name: str) -> Graph:
        """Return the saved graph; `name` names the file in messages."""
        saved = saved_graphs.read(data, name)
        graph = cls(saved.device if device is None else device)
        graph._rebuild(saved)
        return graph

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

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file, in the format of `to_bytes`.

        Parameters
        ----------
        path : str or os.PathLike
            The file, which is overwritten if it exists.

        Raises
        ------
        OSError
            The file cannot be written.

        Examples
        --------
        >>> import os, tempfile
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) + 1)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     g.save(os.path.join(folder, "model.npz"))
        ...     fe.Graph.load(os.path.join(folder, "model.npz"))
        Graph(cpu:0, 1 inputs, 4 steps, 1 outputs)
        """
        Path(path).write_bytes(self.to_bytes())

    @classmethod
    def load(cls, path: str | os.PathLike[str], device: Device | str | None = None) -> Graph:
        """Read a graph that `save` wrote.

        Parameters
        ----------
        path : str or os.PathLike
            The file.
        device : Device or str, optional
            The device; by default the device of the saved name.

        Returns
        -------
        Graph
            A new graph.

        Raises
        ------
        InvalidArgumentError
            The file is not a saved graph, or is damaged.
        OSError
            The file cannot be read.
        UnsupportedError
            The graph was saved in another format.

        Examples
        --------
        >>> import os, tempfile
        >>> g = fe.Graph("cpu")
        >>> g.output(g.input(3) * 2)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     g.save(os.path.join(folder, "model.npz"))
        ...     fe.Graph.load(os.path.join(folder, "model.npz")).compute(fe.ones(3)).tolist()
        [2.0, 2.0, 2.0]
        """
        return cls._from_bytes(Path(path).read_bytes(), device, str(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph.from_bytes, (self.to_bytes(),)
