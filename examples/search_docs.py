"""Search Python's own documentation by meaning: `python examples/search_docs.py "how do I make a copy of a list"`.
 MiniLM embeds every paragraph of `pydoc_data.topics` on the best available ferrule backend, and the paragraphs nearest
to each query are shown. `--check` repeats a sample in NumPy float64; `--json` prints a last line of JSON for programs.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence

import ferrule as fe
import numpy as np
from batches import tokenise
from check import Verdict, check, sample_rows
from corpus import load_paragraphs
from index import Index, best_of, embed_all, score
from minilm import MiniLM
from model_files import ModelFiles, find_model_files
from presentation import console, describe, show_device, show_loading, show_results, show_verdict, watch, watch_batches
from reference import Reference

QUERIES = [
    "how do I make a copy of a list",
    "what happens when an exception is not caught",
    "run code when an object is about to be destroyed",
]


def main(arguments: Sequence[str] | None = None) -> int:
    """Returns the exit status: 0, or 1 when the check fails or the model or the device is missing."""
    options = parse(arguments)
    try:
        return search(options, find_model_files())
    except (fe.Error, FileNotFoundError) as error:
        print(f"search_docs: {error}", file=sys.stderr)
        return 1


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Search Python's own documentation by meaning.")
    parser.add_argument("queries", nargs="*", default=QUERIES, metavar="query", help="what to look for")
    parser.add_argument("--device", help='such as "cpu" or "gpu:0"; the best one without it')
    parser.add_argument("--threads", type=positive, metavar="N", help="threads of the host; all cores without it")
    parser.add_argument("--limit", type=positive, metavar="N", help="index only N paragraphs")
    parser.add_argument("--json", action="store_true", help="print one line of JSON last")
    parser.add_argument("--check", action="store_true", help="compare with NumPy float64; exit 1 if it differs")
    return parser.parse_args(arguments)


def positive(text: str) -> int:
    """Parses a positive number, for argparse."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"must be 1 or more, got {number}")
    return number


def search(options: argparse.Namespace, files: ModelFiles) -> int:
    """Runs the search as the module's docstring describes."""
    show_loading(fe.load_all())
    if options.threads:
        fe.set_thread_count(options.threads)
    device = fe.device(options.device) if options.device else fe.best_device()
    show_device(device)

    paragraphs = load_paragraphs(options.limit)
    sentences = tokenise(files.tokenizer, [paragraph.text for paragraph in paragraphs])
    questions = tokenise(files.tokenizer, options.queries)
    model = MiniLM(files.weights, device)
    uploaded = fe.memory_stats(device).live  # where the device does not borrow the file
    index = embed_all(model, sentences, watch_batches)
    asked = embed_all(model, questions)
    results = [best_of(paragraphs, scores) for scores in score(asked, index, device)]
    for query, best in zip(options.queries, results, strict=True):
        show_results(query, best)

    memory = fe.memory_stats(device)
    speed = len(sentences) / index.seconds
    console.print(f"indexed {len(sentences)} paragraphs in {index.seconds:.2f} s: {speed:.1f} sentences a second")
    console.print(
        f"weights: {memory.borrowed:,} bytes borrowed, {uploaded:,} bytes copied to the device, "
        f"{memory.prepared:,} bytes copied (packed by kernels)"
    )
    verdict = compare(files, [sentences, questions], [index, asked]) if options.check else None
    if verdict:
        show_verdict(verdict)
    if options.json:
        summary = {
            **describe(device),
            "paragraphs": len(sentences),
            "tokens": sum(map(len, sentences)),
            "seconds": index.seconds,
            "sentences_per_second": speed,
            "borrowed_bytes": memory.borrowed,
            "copied_bytes": uploaded + memory.prepared,
            "greatest_distance": verdict.greatest_distance if verdict else None,
            "results": [
                {"query": query, "score": result.score, "topic": result.paragraph.topic, "text": result.paragraph.text}
                for query, best in zip(options.queries, results, strict=True)
                for result in best
            ],
        }
        print(json.dumps(summary), flush=True)
    return 1 if verdict and verdict.failures else 0


def compare(files: ModelFiles, token_ids: Sequence[list[list[int]]], indexes: Sequence[Index]) -> Verdict:
    """Repeats a fixed sample of the paragraphs and all queries in NumPy float64."""
    (sentences, questions), (index, asked) = token_ids, indexes
    rows = sample_rows(len(sentences))
    sample = [sentences[row] for row in rows] + questions
    embeddings = np.concatenate([index.embeddings[rows], asked.embeddings])
    return check(Reference(files.weights), watch(sample, "checking"), embeddings, len(questions))


if __name__ == "__main__":
    sys.exit(main())
