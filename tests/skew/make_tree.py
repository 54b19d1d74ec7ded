"""Writes a tree of ferrule's sources as they would look with a future interface.

    python3 make_tree.py <interface> <folder>

`1.0` is the current tree under another number. `1.1` appends what a minor version may append: a slot to each table, a
field to a struct, an attribute with a default to two ops; the core uses them if they are present. The others are only
the headers of an invalid 1.1: `inserted`, `resigned` and `removed`.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COPIED = ["CMakeLists.txt", "cmake", "csrc"]
LEFT_OUT = {"backends", "bindings"}  # of csrc; only the boundary is tested, not the kernels


class Tree:
    """Edits of files. Each must match exactly once: an outdated edit is an error."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.texts: dict[str, str] = {}

    def replace(self, path: str, old: str, new: str) -> None:
        text = self.texts.get(path) or (ROOT / path).read_text(encoding="utf-8")
        if text.count(old) != 1:
            raise SystemExit(f"make_tree: {path} holds {old!r} {text.count(old)} times, and must hold it once")
        self.texts[path] = text.replace(old, new)

    def append(self, path: str, name: str, entry: str) -> None:
        """Appends to a list of slots or fields, which is a macro: after its last line."""
        text = self.texts.get(path) or (ROOT / path).read_text(encoding="utf-8")
        match = re.search(rf"^#define {name}\([A-Z]\)(?:[^\n]*\\\n)*[^\n]*$", text, re.MULTILINE)
        if match is None:
            raise SystemExit(f"make_tree: {path} defines no {name}")
        self.texts[path] = f"{text[: match.end()]} \\\n  FE_SINCE(1) {entry}{text[match.end() :]}"

    def write(self) -> None:
        """Does not rewrite unchanged files: builds compare modification times."""
        wanted = {path: text.encode() for path, text in self.texts.items()}
        for top in COPIED:
            for source in [ROOT / top, *sorted((ROOT / top).rglob("*"))]:
                path = source.relative_to(ROOT)
                if source.is_file() and not (path.parts[0] == "csrc" and path.parts[1] in LEFT_OUT):
                    wanted.setdefault(str(path), source.read_bytes())
        for source in sorted((ROOT / "tests/skew/module").iterdir()):
            wanted[f"csrc/backends/skewed/{source.name}"] = source.read_bytes()
        for path, data in wanted.items():
            if path not in (LAYOUT_HASH, SNAPSHOT):
                write_if_different(self.folder / path, data)
        for present in (self.folder / "csrc").rglob("*"):
            if present.is_file() and str(present.relative_to(self.folder)) not in {*wanted, DECLARATIONS}:
                present.unlink()


LAYOUT_HASH, SNAPSHOT = "csrc/sdk/ferrule/layout_hash.h", "csrc/sdk/ferrule/abi_snapshot.inc"
DECLARATIONS = "csrc/sdk/layout/declarations.inc"


def write_if_different(path: Path, data: bytes) -> None:
    if path.is_file() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def number(tree: Tree, minor: int) -> None:
    tree.replace("csrc/sdk/ferrule/abi.h", "#define FE_ABI_MAJOR 0", "#define FE_ABI_MAJOR 1")
    tree.replace("csrc/sdk/ferrule/abi.h", "#define FE_ABI_MINOR 1", f"#define FE_ABI_MINOR {minor}")


BACKEND = "csrc/sdk/ferrule/backend.h"


def append_what_a_minor_may(tree: Tree) -> None:
    # A slot of the core, which modules call.
    tree.append(BACKEND, "FE_HOST_SLOTS", "S(uint32_t, core_minor, (void))")
    host = "csrc/core/registry/host_table.cpp"
    tree.replace(
        host, "\nconstexpr fe_host table = {", "\nuint32_t core_minor() { return 1; }\n\nconstexpr fe_host table = {"
    )
    tree.replace(host, "    .get_proc = get_proc,\n", "    .get_proc = get_proc,\n    .core_minor = core_minor,\n")
    # A slot of the module, which the core calls if it is present.
    tree.append(BACKEND, "FE_BACKEND_SLOTS", "S(const char *, motto, (fe_module_backend * backend))")
    version = '  version_ = table_.version != nullptr ? table_.version : "";\n'
    motto = '  if (table_.motto != nullptr) version_ += std::string(", ") + table_.motto(table_.self);\n'
    tree.replace("csrc/core/registry/backend.cpp", version, version + motto)
    # A field that the module fills if the core's struct has it.
    tree.append(BACKEND, "FE_DEVICE_PROPERTIES_FIELDS", "F(const char *, nickname)")
    name = "  out.name = copied(raw.name);\n"
    nickname = "  if (raw.nickname != nullptr) out.name = raw.nickname;\n"
    tree.replace("csrc/core/registry/device.cpp", name, name + nickname)
    # A new attribute of an op with a decomposition for older modules, and of an op without one.
    tree.replace(
        "csrc/ops/arithmetic.cpp",
        'OP(negative).doc("-x.").elementwise().input("x", numeric).result(same_shape_and_dtype);',
        'OP(negative).doc("bias - x.").elementwise().input("x", numeric).real_attribute("bias", 0).since(2)\n'
        "    .result(same_shape_and_dtype).decompose([](Builder& b, const Call& c) {\n"
        '      return b.subtract(b.scalar_like(c.attribute().real("bias"), c.input(0)), c.input(0));\n'
        "    });",
    )
    tree.replace(
        "csrc/ops/exponential.cpp",
        'OP(sqrt).doc("Square root of x, correctly rounded.").elementwise().input("x", floating)',
        'OP(sqrt).doc("scale * square root of x.").elementwise().input("x", floating)'
        '.real_attribute("scale", 1).since(2)',
    )


def get_wrong(tree: Tree, how: str) -> None:
    if how == "inserted":
        slot = "  S(uint32_t, device_count, (fe_module_backend * backend))"
        tree.replace(BACKEND, slot, "  S(void, pause, (fe_module_backend * backend)) \\\n" + slot)
    elif how == "resigned":
        tree.replace(
            BACKEND,
            "device_count, (fe_module_backend * backend)",
            "device_count, (fe_module_backend * backend, int all)",
        )
    elif how == "removed":
        text = tree.texts[BACKEND]
        match = re.search(r"^  F\(uint64_t, max_allocation\)[^\n]*\n", text, re.MULTILINE)
        if match is None:
            raise SystemExit("make_tree: fe_device_properties has no max_allocation")
        tree.replace(BACKEND, match[0], "")


def print_layout(folder: Path, kept: bytes) -> Path:
    """The program that `./dev abi` compiles, of this tree; `kept` is the snapshot that it compares with."""
    sdk = folder / "csrc/sdk"
    read = [sys.executable, str(sdk / "layout/read_declarations.py"), str(sdk / "ferrule")]
    write_if_different(folder / DECLARATIONS, subprocess.run(read, check=True, capture_output=True).stdout)
    write_if_different(folder / SNAPSHOT, kept)
    for_now = folder / LAYOUT_HASH
    if not for_now.is_file():
        for_now.write_bytes((ROOT / LAYOUT_HASH).read_bytes())
    program = folder / "print-layout"
    includes = [f"-I{folder / 'csrc'}", f"-I{sdk}", f"-I{sdk / 'layout'}"]
    source = str(sdk / "layout/print_layout.cpp")
    subprocess.run(["c++", "-std=c++20", *includes, source, "-o", str(program)], check=True)
    return program


def write_hashes(folder: Path) -> None:
    # Starts without a snapshot: a major version starts anew, and an invalid interface is not checked against one.
    program = print_layout(folder, b"FE_ABI(0, 0)\nFE_HASH(0, 0x0)\n")
    for what, path in (("hash", LAYOUT_HASH), ("snapshot", SNAPSHOT)):
        text = subprocess.run([program, what], check=True, capture_output=True).stdout
        write_if_different(folder / path, text)


def main() -> None:
    interface, folder = sys.argv[1], Path(sys.argv[2])
    tree = Tree(folder)
    number(tree, 0 if interface == "1.0" else 1)
    if interface != "1.0":
        append_what_a_minor_may(tree)
    get_wrong(tree, interface)
    stamp = folder / "made-from"
    tree.write()
    sources = b"".join(
        path.read_bytes() for path in sorted((folder / "csrc/sdk").rglob("*.h")) if path.name != "layout_hash.h"
    )
    if not stamp.is_file() or stamp.read_bytes() != sources:
        write_hashes(folder)
        shutil.copyfile(folder / SNAPSHOT, folder / "snapshot.inc")
        stamp.write_bytes(sources)


if __name__ == "__main__":
    main()
