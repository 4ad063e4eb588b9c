"""The Jinja sandbox that models' chat templates run in, with the names that they expect."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, NoReturn

import jinja2
from jinja2 import nodes
from jinja2.ext import Extension, loopcontrols
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment

MAX_CHARS = 4_000_000  # of a template's own text in one prompt: contents are not counted, placeholders stand for them


class TemplateError(ValueError):
    """The chat template of a model file cannot be used; the message says why."""


class Refused(Exception):
    """A template did not render this conversation; the message is its own or Jinja's."""


def parse(source: str) -> nodes.Template:
    """Parse a template; raise TemplateError with line and reason when it is none."""
    try:
        return _environment.parse(source)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"The chat template does not compile: line {error.lineno}: {error.message}") from error
    except RecursionError as error:
        raise TemplateError("The chat template does not compile: it is nested too deeply") from error


def compile_template(source: str) -> jinja2.Template:
    """Compile a template; raise TemplateError with line and reason when it does not compile."""
    try:
        return _environment.from_string(source)
    except jinja2.TemplateSyntaxError as error:
        raise TemplateError(f"The chat template does not compile: line {error.lineno}: {error.message}") from error
    except (RecursionError, SyntaxError) as error:
        raise TemplateError(f"The chat template does not compile: {error}") from error


def run(template: jinja2.Template, variables: Mapping[str, Any]) -> str:
    """Render a template to at most MAX_CHARS characters; raise Refused whatever goes wrong inside.

    Only output is bounded: a template that loops for ever without printing would hang, like any program in a model
    file that is trusted enough to be loaded. Jinja caps `range` at 100,000 and has no `while`.
    """
    parts, size = [], 0
    try:
        for part in template.generate(variables):
            size += len(part)
            if size > MAX_CHARS:
                raise Refused(f"it printed more than {MAX_CHARS:,} characters")
            parts.append(part)
    except Refused:
        raise
    except Exception as error:  # a template is a program of its own: TypeError, SecurityError, anything
        raise Refused(str(error) or type(error).__name__) from error
    return "".join(parts)


class _Generation(Extension):
    """`{% generation %}`: marks the model's own words for training; here it is what stands inside."""

    tags = {"generation"}  # noqa: RUF012  (Jinja's own attribute is declared as a plain set)

    def parse(self, parser: Parser) -> list[nodes.Node]:
        next(parser.stream)
        return parser.parse_statements(("name:endgeneration",), drop_needle=True)


def _raise_exception(message: str = "") -> NoReturn:
    raise Refused(message)


def _tojson(
    value: Any,
    ensure_ascii: bool = False,
    indent: int | None = None,
    separators: tuple[str, str] | None = None,
    sort_keys: bool = False,
) -> str:
    """JSON without the HTML escapes of Jinja's own filter, as models were trained on it."""
    return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)


def _build_environment() -> ImmutableSandboxedEnvironment:
    """As transformers builds it: templates depend on the white space that these options remove."""
    environment = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[loopcontrols, _Generation]
    )
    environment.filters["tojson"] = _tojson
    environment.globals["raise_exception"] = _raise_exception
    return environment


_environment = _build_environment()
