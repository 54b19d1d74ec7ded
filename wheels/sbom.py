"""Writes the SBOM of an unpacked wheel, as PEP 770 places it: python -m wheels.sbom <unpacked wheel> <build folder>

The wheel's licence texts say which components of components.toml it has. Equal wheels get equal SBOMs: its time is
SOURCE_DATE_EPOCH.
"""

from __future__ import annotations

import argparse
import email
import importlib.metadata
import os
import re
import tomllib
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from cyclonedx.model import Property
from cyclonedx.model.bom import Bom, BomMetaData
from cyclonedx.model.component import Component, ComponentType
from cyclonedx.model.license import LicenseExpression
from cyclonedx.output import make_outputter
from cyclonedx.schema import OutputFormat, SchemaVersion
from packageurl import PackageURL

TABLE = Path(__file__).with_name("components.toml")
SCHEMA = SchemaVersion.V1_6
# The property of a component that names its licence text: a file of *.dist-info/licenses/.
LICENSE_FILE = "ferrule:license-file"
Row = dict[str, str | list[str]]


def cached(build: Path, name: str) -> str:
    """An entry of the build folder's CMakeCache.txt."""
    [value] = re.findall(rf"^{name}:\w+=(.*)$", (build / "CMakeCache.txt").read_text(), re.MULTILINE)
    return str(value)


def places(build: Path) -> dict[str, Path]:
    """The folders that `file` of the table may name."""
    found = {"build": build, "zig": Path(cached(build, "FERRULE_ZIG")).parent}
    runtime = re.search(r" (/\S*/libcudart_static\.a)", (build / "build.ninja").read_text())
    if runtime:
        folders = Path(runtime[1]).parents
        found["cuda"] = next(folder for folder in folders if (folder / "include" / "cuda_runtime_api.h").exists())
    return found


def version_of(row: Row, build: Path) -> str | None:
    """The version of a component, as the build used it; none where its code was rewritten in ferrule's files."""
    if "part_of" in row:
        return None
    if "distribution" in row:
        return importlib.metadata.version(str(row["distribution"]))
    path = Path(str(row["file"]).format(**places(build)))
    text = path.read_text(encoding="utf-8")
    numbers: list[str] = []
    for pattern in row["patterns"]:
        found = re.search(pattern, text)
        if not found:
            raise SystemExit(f"{path} has no {pattern}")
        numbers += found.groups()
    return ".".join(str(int(number)) for number in numbers)


def components(licenses: Path, build: Path) -> Iterator[Component]:
    """The components of the wheel with these licence texts."""
    rows: dict[str, Row] = tomllib.loads(TABLE.read_text())
    texts = {path.stem: path for path in licenses.glob("licenses/*.txt")}
    unknown = texts.keys() - {str(row["text"]) for row in rows.values()}
    if unknown:
        raise SystemExit(f"{TABLE} has no component for these licence texts: {sorted(unknown)}")
    system = cached(build, "FERRULE_TARGET").partition("-")[2]
    for name, row in rows.items():
        if row["text"] not in texts or not system.startswith(tuple(row.get("systems", [""]))):
            continue
        version = version_of(row, build)
        purl = PackageURL.from_string(str(row["purl"]).format(version=version)) if "purl" in row else None
        text = texts[str(row["text"])].relative_to(licenses)
        yield Component(
            name=name,
            version=version,
            type=ComponentType.LIBRARY,
            description=str(row["part_of"]) if "part_of" in row else None,
            licenses=[LicenseExpression(str(row["license"]))],
            purl=purl,
            bom_ref=name,
            properties=[Property(name=LICENSE_FILE, value=str(text))],
        )


def sbom_of(information: Path, build: Path) -> str:
    """The SBOM, as JSON text, of the wheel with this folder *.dist-info."""
    metadata = email.message_from_string((information / "METADATA").read_text(encoding="utf-8"))
    name, version = metadata["Name"], metadata["Version"]
    wheel = Component(
        name=name,
        version=version,
        type=ComponentType.LIBRARY,
        licenses=[LicenseExpression(metadata["License-Expression"])],
        purl=PackageURL("pypi", None, name, version),
        bom_ref=name,
        properties=[Property(name=LICENSE_FILE, value="LICENSE")],
    )
    parts = list(components(information / "licenses", build))
    # The same for equal wheels, another one for each different wheel.
    record = (information / "RECORD").read_text(encoding="utf-8")
    bom = Bom(
        components=parts,
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"pkg:pypi/{name}@{version}\n{record}"),
        metadata=BomMetaData(
            component=wheel, timestamp=datetime.fromtimestamp(int(os.environ["SOURCE_DATE_EPOCH"]), UTC)
        ),
    )
    bom.register_dependency(wheel, parts)
    return make_outputter(bom, OutputFormat.JSON, SCHEMA).output_as_string(indent=2)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("wheel", type=Path, help="folder of the unpacked wheel")
    parser.add_argument("build", type=Path, help="folder in which CMake built it")
    arguments = parser.parse_args()
    [information] = arguments.wheel.glob("*.dist-info")
    name = information.name.partition("-")[0]
    path = information / "sboms" / f"{name}.cdx.json"
    path.parent.mkdir()
    path.write_text(sbom_of(information, arguments.build) + "\n", encoding="utf-8")
    path.chmod(0o644)


if __name__ == "__main__":
    main()
