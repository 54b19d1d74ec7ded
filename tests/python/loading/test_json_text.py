"""Options as JSON: any string survives a round trip through json."""

from __future__ import annotations

import json

from ferrule.loading.json_text import json_text
from hypothesis import example, given, strategies as st

STRINGS = st.text(st.characters())
VALUES = STRINGS | st.booleans() | st.none() | st.lists(STRINGS)


@given(st.dictionaries(STRINGS, VALUES))
@example({"dirs": ['a"b', "back\\slash", "tab\t", "\x00", "\x7f", "é", "\ud800", ""], "": None})
def test_written_json_is_read_back(options: dict[str, str | bool | list[str] | None]) -> None:
    assert json.loads(json_text(options)) == options
