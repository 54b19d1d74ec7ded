KINDS: dict[str, dict[str, str]]
ON_TRUTH: frozenset[str]
HAVE_OPTIONAL_INPUTS: frozenset[str]
