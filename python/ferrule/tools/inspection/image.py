"""The properties of one program image; a universal file has several."""

from __future__ import annotations

from dataclasses import dataclass, field

from ferrule.tools.inspection.abi import ABI_SYMBOL
from ferrule.tools.inspection.abi_version import AbiVersion, parse


@dataclass(frozen=True)
class Segment:
    """A part of the file that the system's loader maps into memory."""

    name: str
    offset: int
    size: int


@dataclass
class Image:
    """A program image. `problems` are sentences about damage; `system` and `architecture` are its targets."""

    format: str  # ELF, PE, Mach-O
    system: str
    architecture: str
    exports: list[str] = field(default_factory=list)
    needed: list[str] = field(default_factory=list)
    run_paths: list[str] = field(default_factory=list)
    segments: list[Segment] = field(default_factory=list)
    abi: AbiVersion | None = None
    problems: list[str] = field(default_factory=list)

    def read_abi(self, data: bytes) -> None:
        """Parse the bytes at the symbol, as far as they could be read."""
        if not data:
            self.problems.append(f"{ABI_SYMBOL} is not constant data that can be read from the file")
            return
        try:
            self.abi = parse(data)
        except ValueError as error:
            self.problems.append(f"{ABI_SYMBOL} {error}")

    def check_segments(self, start: int, end: int) -> None:
        """Check that each segment is inside the image's part of the file. Offsets count from the start of that part."""
        for segment in self.segments:
            if segment.offset + segment.size > end - start:
                self.problems.append(
                    f"segment {segment.name} ends at byte {segment.offset + segment.size}, and the "
                    f"{'file' if start == 0 else 'image'} has {end - start}: it is truncated or damaged"
                )
