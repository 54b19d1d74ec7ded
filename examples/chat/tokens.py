"""The tokenizer and the chat template of a GGUF file: text to token ids, and back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers

CONTROL, USER_DEFINED = 3, 4  # types of tokens in `tokenizer.ggml.token_type`

# How each tokenizer cuts a text before it merges bytes, by `tokenizer.ggml.pre`.
_BYTES = pre_tokenizers.ByteLevel(add_prefix_space=False)
_BYTES_ALONE = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
_WORDS = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}{%s}| ?[^\s\p{L}\p{N}]+[\r\n]*|"
    r"\s*[\r\n]+|\s+(?!\S)|\s+"
)
CUTS = {
    "default": _BYTES,
    "gpt-2": _BYTES,
    "smollm": pre_tokenizers.Sequence([pre_tokenizers.Digits(individual_digits=True), _BYTES]),
    "llama-bpe": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(_WORDS % "1,3"), "isolated"), _BYTES_ALONE]),
    "qwen2": pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(_WORDS % "1"), "isolated"), _BYTES_ALONE]),
}


class Tokens:
    """Made of the metadata of a GGUF file.

    Attributes
    ----------
    ends : frozenset of int
        The ids that end an answer.
    """

    def __init__(self, metadata: Mapping[str, Any]) -> None:
        model, cut = metadata.get("tokenizer.ggml.model"), metadata.get("tokenizer.ggml.pre", "default")
        if model != "gpt2" or cut not in CUTS:
            raise ValueError(
                f"the tokenizer {model!r}, {cut!r} is not known here; this example has 'gpt2' with {', '.join(CUTS)}"
            )
        names: list[str] = metadata["tokenizer.ggml.tokens"]
        kinds: list[int] = metadata.get("tokenizer.ggml.token_type", [])
        merges = [tuple(merge.split(" ")) for merge in metadata["tokenizer.ggml.merges"]]
        self._tokenizer = Tokenizer(models.BPE({name: k for k, name in enumerate(names)}, merges))
        self._tokenizer.pre_tokenizer = CUTS[cut]
        self._tokenizer.decoder = decoders.ByteLevel()
        whole = [k for k, kind in enumerate(kinds) if kind in (CONTROL, USER_DEFINED)]
        self._tokenizer.add_special_tokens([AddedToken(names[k], normalized=False, special=True) for k in whole])
        self._names, self._begin = names, metadata.get("tokenizer.ggml.bos_token_id", -1)
        self._adds_begin = bool(metadata.get("tokenizer.ggml.add_bos_token", False))
        turns = {"<|im_end|>", "<|eot_id|>", "<|endoftext|>", "<|end_of_text|>"}
        keys = ("tokenizer.ggml.eos_token_id", "tokenizer.ggml.eot_token_id")
        end = {metadata[key] for key in keys if key in metadata}
        self.ends = frozenset(end | {k for k in whole if names[k] in turns})
        sandbox = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        sandbox.globals["raise_exception"] = _refuse
        self._template = sandbox.from_string(metadata.get("tokenizer.chat_template") or _PLAIN)

    def encode(self, text: str) -> list[int]:
        return list(self._tokenizer.encode(text, add_special_tokens=False).ids)

    def of_messages(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The ids of a conversation, up to where the answer begins."""
        named = {f"{name}_token": self._name(key) for name, key in (("bos", self._begin), ("eos", min(self.ends)))}
        ids = self.encode(self._template.render(messages=messages, add_generation_prompt=True, **named))
        return [self._begin, *ids] if self._adds_begin and ids[:1] != [self._begin] else ids

    def decode(self, ids: Sequence[int]) -> str:
        """The text of the ids without control tokens. Bytes that are no whole character yet become U+FFFD."""
        return str(self._tokenizer.decode(list(ids), skip_special_tokens=True))

    def _name(self, key: int) -> str:
        return self._names[key] if 0 <= key < len(self._names) else ""


_PLAIN = "{% for message in messages %}{{ message['role'] + ': ' + message['content'] + '\n' }}{% endfor %}assistant: "


def _refuse(message: str) -> None:
    raise ValueError(f"the chat template refuses these messages: {message}")
