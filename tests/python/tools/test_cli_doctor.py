"""`ferrule doctor`: its findings, messages and exit status, and the private data that it must not print."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from ferrule.tools.doctor import examine as examination
from ferrule.tools.doctor.redact import Redaction
from foreign_files import SOURCE

Put = Callable[..., Path]
Doctor = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def doctor(tmp_path: Path) -> Doctor:
    def run(*arguments: object, **variables: object) -> subprocess.CompletedProcess[str]:
        inherited = {name: value for name, value in os.environ.items() if not name.startswith("FERRULE_")}
        environment = {**inherited, "FERRULE_CACHE_DIR": str(tmp_path / "cache"), "FERRULE_PROBE": "never"}
        environment.update({name: str(value) for name, value in variables.items()})
        command = [sys.executable, "-m", "ferrule", "doctor", *map(str, arguments)]
        return subprocess.run(command, capture_output=True, text=True, env=environment, check=False, timeout=240)

    return run


def found_by(done: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert done.stderr == ""
    found: dict[str, Any] = json.loads(done.stdout)
    assert (done.returncode == 0) == found["ok"]
    return found


def device_of(found: dict[str, Any], name: str) -> dict[str, Any]:
    [device] = [device for device in found["devices"] if device["backend"] == name]
    return device


def test_the_cpu_works_and_is_measured(doctor: Doctor) -> None:
    found = found_by(doctor("--json"))
    assert found["ok"]
    cpu = device_of(found, "cpu")
    assert (cpu["state"], cpu["computation"]) == ("works", "softmax(x @ w + b)")
    assert 0 < cpu["bandwidth"] < 10_000
    assert 0 < cpu["matmul"] < 1_000_000
    assert {"ferrule", "python", "numpy", "system", "kernel", "processor", "features"} <= found["about"].keys()
    assert found["variables"]["FERRULE_PROBE"] == "never"


def test_output_to_a_pipe_is_plain_text_of_fixed_width(doctor: Doctor, tmp_path: Path) -> None:
    done = doctor("--html", tmp_path / "page.html")
    assert (done.returncode, done.stderr) == (0, "")
    assert "\x1b" not in done.stdout
    assert max(map(len, done.stdout.splitlines())) <= 120
    assert all(line == line.rstrip() for line in done.stdout.splitlines())
    for title in ("This machine", "Environment", "Search locations and candidates", "Devices", "Advice"):
        assert f"{title}\n" in done.stdout
    page = (tmp_path / "page.html").read_text()
    assert "cpu:0" in page
    assert "<script" not in page
    assert "FERRULE_PROBE=never: a module that crashes ends your process." in page


def test_working_backend_name_gives_success(doctor: Doctor) -> None:
    names = ["cpu", "cpu:0", "CPU"]
    answers = found_by(doctor(*names, "--json"))["asked"]
    assert [(answer["name"], answer["ok"], answer["device"]) for answer in answers] == [
        (n, True, "cpu:0") for n in names
    ]


def test_no_usable_device_is_a_failure_with_advice(doctor: Doctor, tmp_path: Path, null_module: Path) -> None:
    advice = "No device is usable: cpu is disabled, as FERRULE_DISABLE names it. Change the variable:"
    for variables in ({}, {"FERRULE_BACKEND_PATH": null_module}):
        found = found_by(doctor("--json", FERRULE_DISABLE="cpu", **variables))
        assert not found["ok"]
        assert any(sentence.startswith(advice) for sentence in found["advice"])
    done = doctor("--html", tmp_path / "page.html", FERRULE_DISABLE="cpu")
    assert done.returncode == 1
    for text in (done.stdout, (tmp_path / "page.html").read_text()):
        assert "No device is usable: see the advice." in text
        assert "Everything that was requested works" not in text
    assert found_by(doctor("--json", FERRULE_ONLY="null", FERRULE_BACKEND_PATH=null_module))["ok"], "it was asked for"


def test_failing_backend_name_gives_a_failure_with_the_reason(doctor: Doctor) -> None:
    found = found_by(doctor("t_nobody", "--json"))
    assert not found["ok"]
    assert found["devices"] == []
    assert any(sentence.startswith("t_nobody: no module of that name was found in") for sentence in found["advice"])


def test_backends_requested_by_variables_must_work(doctor: Doctor, tmp_path: Path, faulty_modules: Path) -> None:
    missing, there = tmp_path / "libferrule-t_gone.so", faulty_modules / "libferrule-faulty.so"
    found = found_by(
        doctor("--json", FERRULE_BACKEND_PATH=f"{missing}{os.pathsep}{there}", FERRULE_ONLY="faulty,t_x,t_gone")
    )
    answers = {answer["name"]: answer for answer in found["asked"]}
    assert not found["ok"]
    assert [answers[name]["ok"] for name in ("faulty", "t_x", str(there))] == [True, False, True]
    assert "FERRULE_ONLY switches off all backends but these: faulty,t_x,t_gone." in found["advice"]
    gone = answers[str(missing)]
    assert not gone["ok"]
    assert "there is no such file" in gone["why"]


def test_states_are_whole_beside_long_names(doctor: Doctor, tmp_path: Path) -> None:
    missing = tmp_path / ("a_long_name_" * 12) / "libferrule-t_gone.so"
    done = doctor("t_gone", FERRULE_BACKEND_PATH=missing)
    assert done.stdout.count("does not work ") >= 2
    assert "none that was asked for" in done.stdout


def test_device_with_few_ops_is_tested_with_those_ops(doctor: Doctor, faulty_modules: Path) -> None:
    found = found_by(doctor("--json", FERRULE_BACKEND_PATH=faulty_modules / "libferrule-faulty.so"))
    device = device_of(found, "faulty")
    assert (device["state"], device["computation"], device["matmul"]) == ("works", "x + x", None)
    assert device["bandwidth"] > 0


def test_device_with_wrong_results_is_a_failure(doctor: Doctor, faulty_modules: Path) -> None:
    variables = {"FERRULE_BACKEND_PATH": faulty_modules / "libferrule-faulty.so", "FERRULE_FAULTY_FAULT": "wrong"}
    found = found_by(doctor("--json", **variables))
    assert not found["ok"]
    assert [answer["ok"] for answer in found["asked"]] == [False]
    assert device_of(found, "faulty")["state"] == "wrong"
    assert device_of(found, "cpu")["state"] == "works"
    assert any("computes wrongly: element (" in sentence for sentence in found["advice"])


def test_crash_is_reported_without_private_data(doctor: Doctor, faulty_modules: Path, tmp_path: Path) -> None:
    home, link = tmp_path / "deep" / "home", tmp_path / "link"
    home.mkdir(parents=True)
    link.symlink_to(home)
    variables = {
        "FERRULE_BACKEND_PATH": faulty_modules / "libferrule-faulty.so",
        "FERRULE_FAULTY_FAULT": "crashes",
        "HOME": link,
        "USER": "ada-l",
        "LD_LIBRARY_PATH": f"{home}/lib:{link}/lib:/data/ada-l/lib:/hosts/{socket.gethostname()}",
    }
    as_json = doctor("--json", **variables)
    as_text = doctor("--html", tmp_path / "page.html", **variables)
    assert as_json.returncode == as_text.returncode == 1
    for text in (as_json.stdout, as_text.stdout, (tmp_path / "page.html").read_text()):
        assert "killed by SIGABRT" in text
        assert "<user> is at home in ~" in text or "&lt;user&gt; is at home in ~" in text
        for secret in (str(home), str(link), "ada-l"):
            assert secret not in text
        assert f"/hosts/{socket.gethostname()}" not in text
    found = found_by(as_json)
    assert found["variables"]["LD_LIBRARY_PATH"] == "~/lib:~/lib:/data/<user>/lib:/hosts/<host>"
    assert device_of(found, "cpu")["state"] == "works"


def test_a_hang_ends_at_the_limit(faulty_modules: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(examination, "DEVICE_LIMIT", 6.0)
    monkeypatch.setenv("FERRULE_PROBE", "never")
    monkeypatch.setenv("FERRULE_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("FERRULE_FAULTY_FAULT", "sleeps")
    monkeypatch.setenv("FERRULE_BACKEND_PATH", str(faulty_modules / "libferrule-faulty.so"))
    found = examination.examine(["faulty"])
    assert not found["ok"]
    device = device_of(found, "faulty")
    assert (device["state"], device["message"]) == ("hung", "no answer for 6 s: killed, computing x + x")


def test_module_that_crashes_the_loading_process_is_tested_in_another(
    doctor: Doctor, package: Path, tmp_path: Path
) -> None:
    module, source = tmp_path / "libferrule-t_boom.so", tmp_path / "boom.c"
    boom = "#include <stdlib.h>\n__attribute__((constructor)) static void boom(void) { abort(); }\n"
    source.write_text(SOURCE + boom)
    subprocess.run(["cc", "-shared", "-fPIC", f"-I{package}/include", str(source), "-o", str(module)], check=True)
    found = found_by(doctor("--json", FERRULE_BACKEND_PATH=module))
    assert "loading ended its process: killed by SIGABRT" in found["load_problem"]
    assert any("FERRULE_PROBE=always tries it in another process first" in sentence for sentence in found["advice"])
    assert len([sentence for sentence in found["advice"] if str(module) in sentence]) == 1
    assert not found["ok"], "FERRULE_BACKEND_PATH names it"
    [row] = [row for row in found["report"]["candidates"] if row["path"] == str(module)]
    assert row["state"] == "probe_failed"
    assert device_of(found, "cpu")["state"] == "works"


def test_test_devices_are_not_judged(doctor: Doctor, null_module: Path) -> None:
    found = found_by(doctor("null", "--json", FERRULE_BACKEND_PATH=null_module))
    assert found["ok"]
    assert device_of(found, "null")["state"] == "unjudged"


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"FERRULE_DISABLE": "t_x"}, "FERRULE_DISABLE switches these backends off: t_x."),
        ({"FERRULE_DISABLE": "gpu"}, "FERRULE_DISABLE takes names of backends, and 'gpu' is a kind of device."),
        ({"FERRULE_DISABLE": "cpu-x64"}, "FERRULE_DISABLE takes names of backends, without variants and"),
        ({"FERRULE_DISABLE": "cpu;null"}, "FERRULE_DISABLE takes names of backends, without variants and"),
        ({"FERRULE_DISABLE": "cpuu"}, "FERRULE_DISABLE names cpuu, but no such backend was found; found: cpu"),
        ({"FERRULE_TRUST": "any"}, "FERRULE_TRUST=any: files that others can write are opened, too."),
        (
            {"FERRULE_BACKENDS_DIR": "/x"},
            "FERRULE_BACKENDS_DIR is not a variable of ferrule; did you mean",
        ),
    ],
)
def test_advice_covers_relevant_variables(doctor: Doctor, variables: dict[str, str], sentence: str) -> None:
    found = found_by(doctor("t_nobody", "--json", **variables))
    assert any(advice.startswith(sentence) for advice in found["advice"]), found["advice"]


def test_variables_that_name_no_option_are_reported(doctor: Doctor, null_module: Path) -> None:
    variables = {"FERRULE_BACKEND_PATH": null_module, "FERRULE_NULL_HIDEN": "1", "FERRULE_NULL_SEED": "x"}
    done = doctor("cpu", "--json", **variables)
    notes = [
        "FERRULE_NULL_HIDEN is set, and null has no option of that name; did you mean FERRULE_NULL_HIDDEN?",
        "FERRULE_NULL_SEED is 'x', and must be an integer",
    ]
    found = json.loads(done.stdout)
    [row] = [row for row in found["report"]["candidates"] if row["name"] == "null"]
    assert row["notes"] == notes
    assert [line for line in found["advice"] if line.startswith("null: ")] == [
        f"null: {notes[0]}",
        f"null: {notes[1]}.",
    ]
    text = " ".join(doctor("cpu", **variables).stdout.split())
    assert notes[0] in text


@pytest.mark.parametrize(
    ("content", "floor", "reason", "advice"),
    [
        (
            None,
            "",
            "the T driver is not installed: {} was not found",
            "; install or update it, then `ferrule doctor --reprobe`.",
        ),
        (
            None,
            "550",
            "the T driver is not installed: {} was not found; install version 550 or newer",
            ", then `ferrule doctor --reprobe`.",
        ),
        (
            "",
            "",
            "the T driver is damaged: {}: the file is empty; install it again",
            "; then `ferrule doctor --reprobe`.",
        ),
    ],
)
def test_missing_and_damaged_drivers_get_their_own_advice(
    doctor: Doctor, put_module: Put, tmp_path: Path, content: str | None, floor: str, reason: str, advice: str
) -> None:
    library = tmp_path / "libt_driver.so.1"
    if content is not None:
        library.write_text(content)
    driver = {"library": library.name, "title": "T driver"} | ({"floor": floor} if floor else {})
    put_module(tmp_path / "modules", "t_gpu", driver=[driver])
    variables = {"FERRULE_BACKEND_DIR": tmp_path / "modules", "LD_LIBRARY_PATH": tmp_path}
    found = found_by(doctor("t_gpu", "--json", **variables))
    reason = reason.format(library.name if content is None else library)
    [row] = [row for row in found["report"]["candidates"] if row["name"] == "t_gpu"]
    assert row["reason"] == reason
    assert [line for line in found["advice"] if line.startswith("t_gpu: ")] == [f"t_gpu: {reason}{advice}"]


DRIVER = {
    "library": "libc.so.6",
    "variables": ["T_DRIVER_*", "T_SWITCH"],
    "hiding_variables": ["T_DRIVER_DEVICES"],
    "file_variables": ["T_DRIVER_FILES"],
}


@pytest.mark.parametrize(
    ("variables", "sentence"),
    [
        ({"T_DRIVER_DEVICES": "-1"}, "T_DRIVER_DEVICES is '-1', which hides every device from the driver."),
        (
            {"T_DRIVER_FILES": "/no/such.json"},
            "T_DRIVER_FILES names /no/such.json, which does not exist: t_plain finds no driver through it.",
        ),
        ({"T_DRIVER_DEVICES": "0", "T_DRIVER_FILES": "/dev/null", "T_SWITCH": "1"}, ""),
    ],
)
def test_driver_variables_are_reported_as_the_manifest_declares(
    doctor: Doctor, put_module: Put, tmp_path: Path, variables: dict[str, str], sentence: str
) -> None:
    state = tmp_path / "t_driver" / "version"
    state.parent.mkdir()
    state.write_text("T version: 550.54\nmore\n")
    put_module(tmp_path / "modules", "t_plain", driver=[{**DRIVER, "state_files": [str(state)]}])
    found = found_by(
        doctor("cpu", "--json", FERRULE_BACKEND_DIR=tmp_path / "modules", T_DRIVER_SECRET="s", **variables)
    )
    assert found["about"]["t_driver"] == "550.54"
    assert {name: found["variables"].get(name) for name in variables} == variables
    assert "T_DRIVER_SECRET" not in found["variables"]
    advice = [line for line in found["advice"] if line.startswith("T_")]
    assert advice == ([sentence] if sentence else [])


def test_unsafe_folder_is_reported_with_the_chmod_that_fixes_it(
    doctor: Doctor, put_module: Put, tmp_path: Path
) -> None:
    folder = tmp_path / "modules"
    put_module(folder, "t_plain")
    folder.chmod(0o777)
    found = found_by(doctor("cpu", "--json", FERRULE_BACKEND_DIR=folder))
    [sentence] = [sentence for sentence in found["advice"] if sentence.startswith("t_plain: ")]
    assert f"chmod o-w '{folder}'" in sentence
    folder.chmod(0o755)
    found = found_by(doctor("cpu", "--json", FERRULE_BACKEND_DIR=folder))
    assert not [sentence for sentence in found["advice"] if "chmod" in sentence]


def test_invalid_variables_are_reported_without_a_traceback(doctor: Doctor) -> None:
    found = found_by(doctor("--json", FERRULE_PROBE_MEMORY="much", FERRULE_TRUST="nobody"))
    limit = "FERRULE_PROBE_MEMORY is 'much', and must be a number above 0 and up to a million; using 4096."
    assert limit in found["advice"]
    assert any(sentence.startswith("FERRULE_TRUST is 'nobody', and must be ") for sentence in found["advice"])


def test_redaction_replaces_whole_words_only(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("USER", "ann")
    monkeypatch.setattr(socket, "gethostname", lambda: "box.lab.example")
    redaction = Redaction()
    cases = {
        "/home/ann/x and /home/ann": "~/x and ~",
        "/home/anna/channel": "/home/anna/channel",
        "ann@box.lab.example, box, BOX-1, boxes": "<user>@<host>, <host>, <host>-1, boxes",
        "file:///home/ann/x": "file://~/x",
        "/tmp/pip-ann_build": "/tmp/pip-<user>_build",
    }
    assert {text: redaction.text(text) for text in cases} == cases
    assert redaction.data({"ann": ["/home/ann", 3, None, ("ann",)]}) == {"ann": ["~", 3, None, ["<user>"]]}
