"""Pages and notebook output, rendered from the templates in templates/html.

Jinja2 is imported for the first page: `import ferrule` and loading modules do not need it.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jinja2 import Environment
    from markupsafe import Markup

FOLDER = Path(__file__).parents[1] / "templates" / "html"
# Control characters, characters that change the direction of the text around them, and lone surrogates.
INVISIBLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]")


def render(template: str, values: dict[str, Any]) -> str:
    r"""Render a template of templates/html with `values` and the function `asset`.

    Every value is escaped, after invisible characters in it were replaced by their codes (`\x1b`). A name that is
    missing in `values` is an error.
    """
    return _environment().get_template(template).render(values)


@cache
def _environment() -> Environment:
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    environment = Environment(
        loader=FileSystemLoader(FOLDER),
        autoescape=True,
        auto_reload=False,
        finalize=_visible,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.globals["asset"] = _asset
    return environment


def _asset(name: str) -> Markup:
    """Return one of the package's own style sheets or scripts, which is not escaped."""
    from markupsafe import Markup

    return Markup((FOLDER / name).read_text(encoding="utf-8"))


def _visible(value: object) -> object:
    """Replace invisible characters in a value, before it is escaped. Results of macros are markup already."""
    if hasattr(value, "__html__"):
        return value
    return INVISIBLE.sub(lambda found: ascii(found[0])[1:-1], str(value).replace("\r\n", "\n"))
