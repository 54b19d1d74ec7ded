"""`Graph`: compiling, computing, inspecting and saving what was recorded."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ferrule import _ferrule
from ferrule.array.array import Array
from ferrule.dtypes.classification import is_block
from ferrule.errors import InvalidArgumentError, UnsupportedError
from ferrule.functions.asarray import asarray, to_packed
from ferrule.graphs import saved_graphs
from ferrule.graphs.recorded_graph import RecordedGraph
from ferrule.io.regular_files import open_regular, replacing
from ferrule.loading.devices import Device


def _bytes_of(constant: Array) -> NDArray[Any]:
    """Return a constant as a NumPy array that `numpy.savez` can write."""
    return to_packed(constant) if is_block(constant.dtype) else np.asarray(constant)


class Graph(RecordedGraph):
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
        Graph(cpu:0, inputs=1, ops=1, outputs=1)
        """
        self._compile(fallback, fuse, guard)
        return self

    def _compile(self, fallback: str, fuse: bool, guard: bool) -> _ferrule.Compiled:
        if not self.outputs:
            raise InvalidArgumentError("compile: the graph has no outputs")
        if not (isinstance(fallback, str) and isinstance(fuse, bool) and isinstance(guard, bool)):
            given = f"{fallback!r}, {fuse!r} and {guard!r}"
            raise InvalidArgumentError(f"compile: fallback is a word, fuse and guard are True or False, not {given}")
        version = self._version
        compiled = self._graph.compile(fallback, fuse, guard)
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

        Raises
        ------
        InvalidArgumentError
            The graph has no outputs.
        """
        return json.loads(self._compiled_handle().plan())

    def placement(self) -> Any:
        """Return where each node runs and where the memory of each constant comes from.

        Returns
        -------
        dict
            "nodes" lists the device of each node, with the reason if it is not the requested one; "constants" lists the
            placement of each constant.

        Raises
        ------
        InvalidArgumentError
            The graph has no outputs.

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
        ops = sum(step[0] == "apply" for step in self._steps)
        return f"Graph({self.device}, inputs={len(self.inputs)}, ops={ops}, outputs={len(self.outputs)})"

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
        Graph(cpu:0, inputs=1, ops=1, outputs=1)
        """
        return cls._from_bytes(data, device, "this")

    @classmethod
    def _from_bytes(cls, data: bytes, device: Device | str | None, name: str) -> Graph:
        """Return the saved graph; `name` names the file in messages."""
        saved = saved_graphs.read(data, name)
        graph = cls(saved.device if device is None else device)
        graph._rebuild(saved)
        return graph

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the graph to a file, in the format of `to_bytes`.

        Parameters
        ----------
        path : str or os.PathLike
            The file. One that exists is replaced when the new one is complete.

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
        Graph(cpu:0, inputs=1, ops=1, outputs=1)
        """
        data = self.to_bytes()
        with replacing(Path(path)) as file:
            file.write(data)

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
        IoError
            It is not a regular file.
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
        place = Path(path)
        with open_regular(place) as file:
            try:
                data = file.read()
            except OSError as error:
                raise OSError(error.errno, error.strerror, str(place)) from error
        return cls._from_bytes(data, device, str(path))

    def __reduce__(self) -> tuple[Any, ...]:
        return Graph.from_bytes, (self.to_bytes(),)
