"""An export comes as a file that no browser opens as a page, whatever its title says."""

import pytest

from chat.models import Conversation
from chat.services import close
from chat.tests.api.talking import make, say


@pytest.fixture(autouse=True)
async def nothing_is_left_running():
    yield
    await close()


@pytest.mark.parametrize(
    ("query", "kind", "ending"),
    [
        ("", "text/markdown", "md"),
        ("?format=markdown", "text/markdown", "md"),
        ("?format=json", "application/json", "json"),
    ],
)
async def test_a_conversation_is_exported(serve, program, query, kind, ending):
    serve()
    where = await make(program, title="Cats")
    await say(program, where, "Meow")
    answer = await program.get(f"{where}/export{query}")
    assert answer.status_code == 200
    assert answer["Content-Type"] == f"{kind}; charset=utf-8"
    assert answer["Content-Disposition"] == f'attachment; filename="Cats.{ending}"'
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert answer["Content-Security-Policy"] == "sandbox; default-src 'none'"
    assert b"Meow" in answer.content
    assert b"You said: Meow" in answer.content


@pytest.mark.parametrize(
    ("title", "expected"),
    [
        ('a"; filename="evil.exe', 'attachment; filename="a ; filename= evil.exe.md"'),
        ("Größe", "attachment; filename*=utf-8''Gr%C3%B6%C3%9Fe.md"),
        ("x\r\nSet-Cookie: a=b", 'attachment; filename="xSet-Cookie a=b.md"'),
        ("", 'attachment; filename="conversation.md"'),
    ],
)
async def test_a_hostile_title_is_only_a_name(program, alice, title, expected):
    where = await make(program)
    await Conversation.objects.aupdate(title=title)
    answer = await program.get(f"{where}/export")
    assert answer["Content-Disposition"] == expected
    assert not answer.cookies


async def test_an_unknown_format_is_refused(program):
    assert (await program.get(f"{await make(program)}/export?format=html")).status_code == 400
