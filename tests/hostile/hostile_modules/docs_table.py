"""The table of docs/develop/hostile.md. `./dev hostile --write-page` writes it from what the tests saw, and each test
compares its row with it.

python -m hostile_modules.docs_table SEEN PAGE
    writes the rows in the folder SEEN (one JSON file per module) between PAGE's marks.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

BEGIN = "<!-- begin of the table: written by ./dev hostile --write-page -->"
END = "<!-- end of the table -->"
PAGE = Path(__file__).resolve().parents[3] / "docs" / "develop" / "hostile.md"
LONGEST = 160  # characters of a sentence


def sentence(row: dict[str, Any], folder: Path) -> str:
    """The row's message without parts that vary between runs, as a table cell."""
    message = "; ".join([*([row["reason"]] if row["reason"] else []), *row["notes"]])
    message = message.replace(str(folder), "...")
    message = re.sub(r"\b0x[0-9a-f]{4,}\b", "0x...", message)
    message = re.sub(r"(at byte|the file has) \d+", r"\1 N", message)
    message = re.sub(r"(parse error at line \d+, column \d+).*", r"\1", message)
    message = " ".join(message.replace("|", "\\|").split())
    message = "".join(character if character.isprintable() else "?" for character in message)
    return message if len(message) <= LONGEST else message[: LONGEST - 3] + "..."


def documented(page: Path = PAGE) -> dict[str, tuple[str, str]]:
    """State and message of each hostile module in the docs."""
    text = page.read_text(encoding="utf-8")
    rows = {}
    for line in text[text.index(BEGIN) : text.index(END)].splitlines():
        cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) == 4 and cells[0].startswith("`"):
            rows[cells[0].strip("`")] = (cells[1], cells[2])
    return rows


def write(seen: Path, page: Path) -> int:
    from hostile_modules.catalogue import HOSTILE_MODULES

    lines = ["| module | state | what the report says | ms |", "|---|---|---|---:|"]
    for hostile in HOSTILE_MODULES:
        row = json.loads((seen / f"{hostile.name}.json").read_text(encoding="utf-8"))
        lines.append(f"| `{hostile.name}` | {row['state']} | {row['sentence']} | {row['milliseconds']:.0f} |")
    text = page.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN)], text[text.index(END) :]
    page.write_text(before + BEGIN + "\n" + "\n".join(lines) + "\n" + after, encoding="utf-8")
    return len(lines) - 2


if __name__ == "__main__":
    print(f"{write(Path(sys.argv[1]), Path(sys.argv[2]))} modules")
