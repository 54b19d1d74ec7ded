"""The SBOM of each wheel: CycloneDX, where PEP 770 places it, with a version and a licence text for each component."""

from __future__ import annotations

import json
import re
import sys
import tomllib
import zipfile
from typing import Any

import pytest
from backend_wheels import BACKENDS
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from packaging.licenses import canonicalize_license_expression

from tools.wheels import THIS_PLATFORM, find
from wheels.sbom import LICENSE_FILE, TABLE

WHEELS = ["ferrule", *(f"ferrule_{name}" for name in BACKENDS)]
ROWS = tomllib.loads(TABLE.read_text())
COMPILERS = {"libcxx", "libcxxabi", "zig-compiler-rt"}  # inside everything that zig compiles


class Contents:
    """The files of a wheel's *.dist-info, by their names there."""

    def __init__(self, name: str) -> None:
        [path] = find(name, THIS_PLATFORM)
        with zipfile.ZipFile(path) as archive:
            parts = {name: name.partition(".dist-info/")[2] for name in archive.namelist()}
            self.files = {part: archive.read(name) for name, part in parts.items() if part}
        self.sbom: dict[str, Any] = json.loads(self.files[f"sboms/{name.partition('-')[0]}.cdx.json"])


@pytest.fixture(params=WHEELS)
def contents(request: pytest.FixtureRequest) -> Contents:
    return Contents(request.param)


def components(contents: Contents) -> list[dict[str, Any]]:
    return [contents.sbom["metadata"]["component"], *contents.sbom["components"]]


def license_file(component: dict[str, Any]) -> str:
    [name] = [row["value"] for row in component["properties"] if row["name"] == LICENSE_FILE]
    return f"licenses/{name}"


def test_it_follows_the_schema_of_cyclonedx(contents: Contents) -> None:
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(contents.sbom)) is None


def test_it_describes_the_wheel(contents: Contents) -> None:
    metadata = contents.files["METADATA"].decode()
    component = contents.sbom["metadata"]["component"]
    assert f"\nName: {component['name']}\nVersion: {component['version']}\n" in metadata
    assert component["purl"] == f"pkg:pypi/{component['name']}@{component['version']}"


def test_each_component_has_a_licence_text_and_each_text_a_component(contents: Contents) -> None:
    texts = {name for name in contents.files if name.startswith("licenses/")}
    described = {license_file(component) for component in components(contents)}
    assert described <= texts
    assert texts - described <= {f"licenses/licenses/{row['text']}.txt" for row in ROWS.values() if "systems" in row}


def test_each_component_has_a_licence_and_a_version(contents: Contents) -> None:
    for component in components(contents):
        [entry] = component["licenses"]
        assert canonicalize_license_expression(entry["expression"]) == entry["expression"]
        if "part_of" in ROWS.get(component["name"], {}):
            assert component["description"], component["name"]
        else:
            assert re.fullmatch(r"\d+(\.\d+)+", component["version"]), component["name"]


def test_it_has_the_libraries_of_the_compiler_and_what_the_wheel_depends_on(contents: Contents) -> None:
    names = {component["name"] for component in contents.sbom["components"]}
    assert names >= COMPILERS
    [depends] = [row["dependsOn"] for row in contents.sbom["dependencies"] if "dependsOn" in row]
    assert set(depends) == names


def test_the_wheels_have_every_component_of_the_table() -> None:
    found = {component["name"] for name in WHEELS for component in Contents(name).sbom["components"]}
    system = f"{sys.platform}-gnu"
    assert found == {name for name, row in ROWS.items() if system.startswith(tuple(row.get("systems", [""])))}
