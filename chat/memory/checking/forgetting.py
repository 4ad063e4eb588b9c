"""What is left of a message that was forgotten: in prompts, tables, the index, and the bytes of the files."""

import io
import random
from pathlib import Path
from typing import Any

from django.core.management import call_command
from django.db import connection

from accounts.models import User
from chat.database import in_database
from chat.memory.checking.scripted import ScriptedChat
from chat.memory.checking.systems import Ours
from chat.memory.checking.talks import Exchange, Talk
from chat.memory.checking.values import Tally
from chat.models import Message

_FACTS = ("My dog is called {v}.", "The wifi password is {v}.", "My aunt moved to {v} in spring.", "I owe {v} euros.")


async def forgotten(talk: Talk, owner: User, model: ScriptedChat, folder: Path) -> Tally:
    """Facts told in a talk, remembered, forgotten by the person and purged: each must have left no trace in `folder`.

    `folder` holds the database.
    """
    from chat.services.remembering import forget_now  # knows sockets' notices, of which the rest of memory does not

    traces = Tally()
    rng = random.Random(talk.seed)  # noqa: S311
    values = [f"{rng.randrange(10**9, 10**10)}q" for _ in _FACTS]
    ours = await _told(talk, owner, model, values)
    known = await in_database(_in_tables, values)
    assert all(known.values()), "what has not been there proves nothing when it is gone"
    for value in values:
        for message in await in_database(_saying, ours, value):
            await forget_now(ours.conversation.pk, owner.pk, message=message, with_answers=True)
    await in_database(ours.conversation.refresh_from_db)  # its title may have told a fact
    for value, fact in zip(values, _FACTS, strict=True):
        shown = await ours.ask(fact.format(v="what"))
        traces.count(not any(value in message.text for message in shown.messages), f"{fact}: in a prompt")
    await in_database(_purge)
    tables, files = await in_database(_in_tables, values), await in_database(_in_files, folder, values)
    for value, fact in zip(values, _FACTS, strict=True):
        traces.count(not tables[value], f"{fact}: in {', '.join(tables[value])}")
        traces.count(not files[value], f"{fact}: in the file {', '.join(files[value])}")
    return traces


async def _told(talk: Talk, owner: User, model: ScriptedChat, values: list[str]) -> Ours:
    """A conversation with the facts among other talk, some of it summarised, and the last one recalled once."""
    ours = await Ours.begin(owner, model)
    for fact, value in zip(_FACTS, values, strict=True):
        await ours.say(Exchange(fact.format(v=value), f"I will remember {value}."))
    await ours.fill(talk.exchanges)
    for fact in _FACTS:
        await ours.ask(fact.format(v="what"))
    return ours


def _purge() -> None:
    call_command("purge", verbosity=0, stdout=io.StringIO())


def _saying(ours: Ours, value: str) -> list[int]:
    """Of the person's messages with a value; the replies go with them."""
    said = ours.conversation.messages.filter(role=Message.Role.USER, text__contains=value)
    return list(said.values_list("pk", flat=True))


def _in_tables(values: list[str]) -> dict[str, list[str]]:
    """In which tables each value stands, whatever the column; the index's own tables included."""
    found: dict[str, list[str]] = {value: [] for value in values}
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f"SELECT * FROM {connection.ops.quote_name(table)}")  # noqa: S608 - names of our tables
            rows = b"\n".join(_bytes(cell) for row in cursor.fetchall() for cell in row)
            for value in values:
                if _trace(value) in rows.lower():
                    found[value].append(table)
    return found


def _bytes(cell: Any) -> bytes:
    return bytes(cell) if isinstance(cell, bytes | memoryview) else str(cell).encode(errors="replace")


def _in_files(folder: Path, values: list[str]) -> dict[str, list[str]]:
    found: dict[str, list[str]] = {value: [] for value in values}
    for file in folder.rglob("*"):
        content = file.read_bytes().lower() if file.is_file() else b""
        for value in values:
            if _trace(value) in content:
                found[value].append(file.name)
    return found


def _trace(value: str) -> bytes:
    """The part that an index, which leaves out what neighbours share at their beginning, must still have."""
    return value[3:].encode()
