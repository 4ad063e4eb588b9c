"""Schemas that would cost the engine too much are refused before they reach it."""

import pytest

from chat.inference.schema import UnusableSchema, checked_schema


def nested(levels):
    schema = {"type": "string"}
    for _ in range(levels):
        schema = {"type": "array", "items": schema}
    return schema


@pytest.mark.parametrize(
    ("schema", "reason"),
    [
        (nested(5000), "nested"),
        (nested(17), "nested"),
        ([], "object"),
        ("root ::= x", "object"),
        (None, "object"),
        ({"type": "array", "maxItems": 10**9}, "maxItems"),
        ({"type": "string", "minLength": -1}, "minLength"),
        ({"type": "string", "maxLength": float("nan")}, "maxLength"),
        ({"type": "string", "pattern": "(a+)+"}, "pattern"),
        ({"$ref": "https://example.org/x"}, "ref"),
        ({"enum": ["x" * 20_000]}, "bytes"),
        ({"const": float("inf")}, "plain JSON"),
        ({"const": object()}, "plain JSON"),
    ],
)
def test_it_is_refused_with_a_reason(schema, reason):
    with pytest.raises(UnusableSchema, match=reason):
        checked_schema(schema)


def test_an_ordinary_one_passes():
    schema = {"type": "object", "properties": {"kind": {"enum": ["cat", "dog"]}}, "required": ["kind"]}
    assert (
        checked_schema(schema)
        == '{"type": "object", "properties": {"kind": {"enum": ["cat", "dog"]}}, "required": ["kind"]}'
    )
