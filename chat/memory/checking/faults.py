"""Every way in which a summariser can fail, and whether each message stays covered meanwhile."""

import asyncio
from collections.abc import Callable

from django.conf import settings
from langchain_core.messages import BaseMessage

from accounts.models import User
from chat.inference.request import EngineFailed, Preempted
from chat.memory.budget import Budget
from chat.memory.checking.reading import Reader
from chat.memory.checking.scripted import Script, ScriptedChat
from chat.memory.checking.systems import Ours
from chat.memory.checking.talks import Exchange, Talk
from chat.memory.checking.values import Tally
from chat.memory.checking.watching import Watch
from chat.memory.keeper import Keeper

COVERED, NOBODY_WAITS = "covered", "nobody waits"
CONTEXT = 768  # tokens: much is folded in few turns
PATIENCE = 0.05  # seconds; a slow summariser is given up after it
_FOR_EVER = 3600.0
_LONGEST_TURN = 30.0  # seconds: whoever waited for a summary that never comes would need longer


async def _raises(_: list[BaseMessage]) -> tuple[str, str]:
    raise EngineFailed("The engine met an internal error.")


async def _crashes(_: list[BaseMessage]) -> tuple[str, str]:
    raise RuntimeError("boom")


async def _is_empty(_: list[BaseMessage]) -> tuple[str, str]:
    return "", "stop"


async def _talks_nonsense(_: list[BaseMessage]) -> tuple[str, str]:
    return "lorem ipsum dolor sit amet " * 4, "stop"


async def _invents(_: list[BaseMessage]) -> tuple[str, str]:
    return "The user is called Zebulon Quux and owes 77,123 euros.", "stop"


async def _is_endless(_: list[BaseMessage]) -> tuple[str, str]:
    return "and then " * 2000, "length"


async def _refuses(_: list[BaseMessage]) -> tuple[str, str]:
    return "I'm sorry, but I cannot help with that.", "stop"


async def _is_slow(_: list[BaseMessage]) -> tuple[str, str]:
    await asyncio.Event().wait()
    raise AssertionError("nobody waits that long")


async def _gives_way(_: list[BaseMessage]) -> tuple[str, str]:
    raise Preempted("Somebody more urgent came.")


FAULTS: dict[str, Script] = {
    "raises": _raises,
    "crashes": _crashes,
    "is empty": _is_empty,
    "talks nonsense": _talks_nonsense,
    "invents": _invents,
    "never ends": _is_endless,
    "refuses": _refuses,
    "is slow": _is_slow,
    "gives way": _gives_way,
    "never answers": _is_slow,
}


async def under_faults(
    talk: Talk, owner: User, model: ScriptedChat, reader: Reader, step: Callable[[], None]
) -> tuple[Tally, Tally, list[Watch]]:
    """Turns whose messages were all covered, turns that waited for no summary, and what was watched.

    A summary is written in the background as in the site, so the next turn may come before it.
    """
    covered, unwaited, watches = Tally(), Tally(), []
    for name, script in FAULTS.items():
        keeper = Keeper(patience=_FOR_EVER if name == "never answers" else PATIENCE, first_pause=0.001)
        small = model.model_copy(update={"script": script, "context_tokens": CONTEXT})
        ours = await Ours.begin(owner, small, keeper)
        ours.in_background = True
        watching = Watch(ours, reader, Budget.of(CONTEXT, settings.LLM_MAX_REPLY_TOKENS))
        for number, exchange in enumerate(talk.exchanges):
            before, case = watching.num_uncovered, f"the summariser {name}, turn {number}"
            unwaited.count(await _in_time(watching, exchange), case)
            covered.count(watching.num_uncovered == before, case)
        await ours.stop()
        watches.append(watching)
        step()
    return covered, unwaited, watches


async def _in_time(watching: Watch, exchange: Exchange) -> bool:
    try:
        async with asyncio.timeout(_LONGEST_TURN):
            await watching.say(exchange)
    except TimeoutError:
        return False
    return True
