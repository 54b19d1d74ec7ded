"""Conversations with a model: prompts are read in parts, then one token of each answer after the other is written."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

import ferrule as fe
import numpy as np
from llama import Llama, room_for
from numpy.typing import NDArray
from sampling import Sampling
from tokens import Tokens


@dataclass
class Answer:
    """The tokens and the text of an answer so far."""

    ids: list[int] = field(default_factory=list)
    text: str = ""
    reason: str = ""  # why it ended: "end", "stop" or "length"


@dataclass
class Times:
    prompt_tokens: int = 0
    prompt_seconds: float = 0.0
    written_tokens: int = 0
    written_seconds: float = 0.0


class Conversations:
    """Several prompts, read and answered together, in at most `most` tokens each. Shorter prompts begin later, so that
    all end at one place.
    """

    def __init__(self, model: Llama, tokens: Tokens, prompts: Sequence[Sequence[int]], most: int) -> None:
        self._model, self._tokens = model, tokens
        self.times = Times()
        self.answers = [Answer() for _ in prompts]
        longest = max(map(len, prompts))
        if longest >= model.context:
            raise ValueError(
                f"the conversation has {longest} tokens, and there is room for {model.context} (--context)"
            )
        self._most = min(longest + most, model.context)
        self._before = [list(prompt) for prompt in prompts]
        self._empty = np.array([longest - len(prompt) for prompt in prompts], np.int64)
        rows = np.zeros((len(prompts), longest), np.int64)
        for row, prompt in zip(rows, prompts, strict=True):
            row[longest - len(prompt) :] = prompt
        self._keys, self._values = model.caches(len(prompts), room_for(self._most))
        self._position = 0
        self._scores = self._read_prompts(rows)

    def answer(self, sampling: Sampling, stops: Sequence[str] = ()) -> Iterator[list[str]]:
        """Write the answers; yield what each step adds to the texts."""
        most = self._most - self._position
        numbers = sampling.numbers(most)
        for step in range(most):
            begin = time.perf_counter()
            ids = [self._next(row, sampling, numbers[step]) for row in range(len(self.answers))]
            added = [self._add(*row, stops) for row in zip(self.answers, ids, strict=True)]
            self.times.written_tokens += sum(not answer.reason for answer in self.answers)
            yield added
            if all(answer.reason for answer in self.answers):
                return
            if step + 1 < most:
                self._scores = self._read(np.array(ids, np.int64)[:, None], 1)
            self.times.written_seconds += time.perf_counter() - begin
        for answer in self.answers:
            answer.reason = answer.reason or "length"

    def _read_prompts(self, rows: NDArray[np.int64]) -> NDArray[np.float32]:
        begin = time.perf_counter()
        done, length = 0, rows.shape[1]
        while done < length:
            part = self._model.part_for(length - done)
            ids = np.zeros((len(rows), part), np.int64)
            count = min(length - done, part)
            ids[:, :count] = rows[:, done : done + count]
            scores = self._read(ids, count)
            done += count
        self.times.prompt_tokens += int(rows.size - self._empty.sum())
        self.times.prompt_seconds += time.perf_counter() - begin
        return scores

    def _read(self, ids: NDArray[np.int64], count: int) -> NDArray[np.float32]:
        """Read `count` columns of ids; the columns behind them are overwritten by the next ones that are read."""
        scores, self._keys, self._values = self._model.read(
            fe.asarray(ids, device=self._model.device),
            self._keys,
            self._values,
            self._position,
            count - 1,
            fe.asarray(self._empty, device=self._model.device),
        )
        self._position += count
        return np.asarray(scores)

    def _next(self, row: int, sampling: Sampling, number: float) -> int:
        if self.answers[row].reason:
            return 0  # it is read along with the others, and nobody looks at the result
        chosen = sampling.choose(self._scores[row], self._before[row], number)
        self._before[row].append(chosen)
        return chosen

    def _add(self, answer: Answer, token: int, stops: Sequence[str]) -> str:
        if answer.reason:
            return ""
        if token in self._tokens.ends:
            answer.reason = "end"
            return ""
        answer.ids.append(token)
        whole = self._tokens.decode(answer.ids)
        places = [whole.find(stop) for stop in stops if stop in whole]
        if places:
            whole, answer.reason = whole[: min(places)], "stop"
        elif whole.endswith("\ufffd"):
            return ""  # the rest of the character is in the next token
        added = whole[len(answer.text) :]
        answer.text = whole
        return added
