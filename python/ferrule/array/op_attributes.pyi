KINDS: dict[str, dict[str, str]]
