"""Memory's way to the database, the model and back: prompts before a reply, summaries after it."""

import asyncio
import logging
import traceback
import uuid
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from django.conf import settings
from langchain_core.messages import HumanMessage

from chat.database import in_database
from chat.inference.request import Preempted
from chat.memory import recall, summary
from chat.memory.branch import Branch, read_past, read_pins, read_question, store
from chat.memory.budget import Budget
from chat.memory.prompt import Count, Layout, Prompt, build, check, turn_starts, within_share
from chat.metrics.figures import figures
from chat.models import Conversation, Message, Summary

if TYPE_CHECKING:
    from chat.llm import LocalChatModel

logger = logging.getLogger(__name__)
Due = Callable[[Layout, Budget, Count], int]

PATIENCE = 300.0  # seconds for one summary by the model, waiting for its turn included; then key sentences do
REPLIES_MEANWHILE = 2  # so many in the same conversation end the waiting as well: its context fills up
# A model whose summaries were of no use three times in a row is asked only every eighth time: it costs seconds.
USELESS, ASK_AGAIN = 3, 8
FIRST_PAUSE, LONGEST_PAUSE = 1.0, 30.0  # seconds after the request has given way to somebody


async def prompt_for(reply: Message, model: "LocalChatModel") -> Prompt:
    """What the model is shown to write `reply`. Raises MessageTooLong, and DoesNotExist when the branch is gone."""
    branch = await in_database(read_question, reply, model.fingerprint)
    budget = _budget(model)
    layout = replace(branch.layout, passages=await recall.passages_for(branch, budget))
    return await asyncio.to_thread(build, layout, budget, model.count)


async def check_fits(conversation: Conversation, parent_id: int | None, text: str, model: "LocalChatModel") -> None:
    """Raise MessageTooLong if a message could not be answered, whatever of the branch is left out."""
    pins = await in_database(read_pins, conversation, parent_id, model.fingerprint)
    layout = replace(pins, message=HumanMessage(text))
    await asyncio.to_thread(check, layout, _budget(model), model.count)


async def prewarm(conversation_id: uuid.UUID, leaf_id: int, model: "LocalChatModel") -> bool:
    """Have the beginning of the next prompt after `leaf_id` read while nobody is served.

    The next turn then reads only its own message. False when there is nothing to read, or when it gave way.
    """
    branch = await in_database(read_past, conversation_id, leaf_id, model.fingerprint)
    if branch is None:
        return False
    prompt = await asyncio.to_thread(build, branch.layout, _budget(model), model.count)
    reading = model.prewarm(prompt.messages[:-1], owner=str(branch.owner), conversation=str(branch.conversation))
    is_read, _ = await asyncio.gather(reading, recall.make_findable(conversation_id))
    if await in_database(read_past, conversation_id, leaf_id, model.fingerprint) != branch:
        _let_go(branch, model)
    return is_read


@dataclass
class Keeper:
    """Writes the summaries of a process, one at a time for each conversation.

    Nothing is kept but what is in the database: after a restart the next reply finds the same work due.
    """

    patience: float = PATIENCE
    first_pause: float = FIRST_PAUSE
    _waiting: dict[uuid.UUID, list["_Wish"]] = field(default_factory=dict)
    _num_useless: dict[str, int] = field(default_factory=dict)  # by the model's fingerprint, in a row

    async def after_reply(self, conversation_id: uuid.UUID, leaf_id: int, model: "LocalChatModel") -> None:
        """Fold what is due on the branch that ends in `leaf_id`, and make what is new findable.

        Raises nothing; a fault is logged without content. While another call is at work on the conversation, this one
        leaves its leaf to it and returns.
        """
        await asyncio.gather(
            self._work(conversation_id, leaf_id, model, summary.due), recall.make_findable(conversation_id)
        )

    async def compact(self, conversation_id: uuid.UUID, leaf_id: int, model: "LocalChatModel") -> None:
        """The same, but everything up to the last turn is due, and it waits for another call: its owner wishes it."""
        await (await self._work(conversation_id, leaf_id, model, summary.all_but_last)).wait()

    def is_at_work(self, conversation_id: uuid.UUID) -> bool:
        """Whether a summary of this conversation is being written. From any thread."""
        return conversation_id in self._waiting

    async def _work(self, conversation_id: uuid.UUID, leaf_id: int, model: "LocalChatModel", due: Due) -> asyncio.Event:
        """Returns what is set once that was looked at, by this call or by the one that is at work already."""
        wish = _Wish(leaf_id, due)
        if conversation_id in self._waiting:
            self._waiting[conversation_id].append(wish)
            return wish.done
        wishes = self._waiting[conversation_id] = [wish]
        try:
            while wishes:
                now = wishes.pop(0)
                try:
                    await self._catch_up(conversation_id, now.leaf, model, now.due)
                finally:
                    now.done.set()
        except Exception as error:
            where = traceback.extract_tb(error.__traceback__)[-1]
            place = f"{type(error).__name__} at {where.filename}:{where.lineno}"
            logger.error("Conversation %s was not summarised: %s", conversation_id, place)
        finally:
            del self._waiting[conversation_id]
            for left in wishes:
                left.done.set()
        return wish.done

    async def _catch_up(self, conversation_id: uuid.UUID, leaf: int, model: "LocalChatModel", due: Due) -> None:
        """In as many portions as the model needs to read everything that is due; each is stored by itself."""
        folded = False
        while branch := await _read(conversation_id, leaf, model):
            cut = await asyncio.to_thread(due, branch.layout, _budget(model), model.count)
            try:
                if not cut or not await self._fold(branch, cut, model):
                    break
            except _Outdated:
                continue
            folded = True
        if folded:
            # The prompt begins differently now: read that before somebody waits for it.
            await prewarm(conversation_id, leaf, model)

    async def _fold(self, branch: Branch, cut: int, model: "LocalChatModel") -> bool:
        """One summary, by the model if it can. False if nothing smaller than the turns themselves is to be had."""
        budget = _budget(model)
        portion = await asyncio.to_thread(summary.readable, branch.layout, cut, budget, model.count)
        if portion and (text := await self._by_model(branch, portion, budget, model)):
            return await self._keep(branch, portion, text, Summary.Author.MODEL, model)
        for start in turn_starts(branch.layout.turns):
            if (portion or 1) <= start <= cut:
                text = await asyncio.to_thread(_extracted, branch.layout, start, budget, model)
                if text:
                    return await self._keep(branch, start, text, Summary.Author.EXTRACT, model)
        return False

    async def _by_model(self, branch: Branch, cut: int, budget: Budget, model: "LocalChatModel") -> str:
        """The model's summary, checked; empty when it fails, is not to be trusted or takes too long."""
        num_useless = self._num_useless.get(model.fingerprint, 0)
        if num_useless >= USELESS and num_useless % ASK_AGAIN:
            self._num_useless[model.fingerprint] = num_useless + 1
            return ""
        try:
            async with asyncio.timeout(self.patience):
                text = await self._ask_until_answered(branch, cut, budget, model)
            text = await asyncio.to_thread(_checked, text, branch.layout, cut, budget, model)
            self._num_useless[model.fingerprint] = 0
            return text
        except summary.Unusable as fault:
            self._num_useless[model.fingerprint] = num_useless + 1
            logger.info("Conversation %s: the model's summary cannot be used: %s", branch.conversation, fault)
        except _Outdated:
            raise
        except Exception as error:
            logger.warning("Conversation %s: the model wrote no summary: %s", branch.conversation, type(error).__name__)
        return ""

    async def _ask_until_answered(self, branch: Branch, cut: int, budget: Budget, model: "LocalChatModel") -> str:
        pause = self.first_pause
        while True:
            try:
                return await summary.ask(
                    model,
                    branch.layout,
                    cut,
                    budget.summary,
                    owner=str(branch.owner),
                    conversation=str(branch.conversation),
                )
            except Preempted:
                logger.debug("Conversation %s: the summary gave way", branch.conversation)
                await asyncio.sleep(pause)
                if len(self._waiting[branch.conversation]) >= REPLIES_MEANWHILE:
                    raise
                # What was deleted or forgotten meanwhile has left the engine's caches, and must not come back there.
                if await _read(branch.conversation, branch.path[-1], model) != branch:
                    raise _Outdated from None
            pause = min(2 * pause, LONGEST_PAUSE)

    async def _keep(self, branch: Branch, cut: int, text: str, author: str, model: "LocalChatModel") -> bool:
        name = model.model_name if author == Summary.Author.MODEL else ""
        row = await in_database(store, branch, cut, text=text, author=author, model=name)
        if row:
            figures.summaries.labels(author).inc()
            logger.info("Conversation %s: summary %s by %s of %s messages", branch.conversation, row.pk, author, cut)
        else:
            _let_go(branch, model)
        return True  # even if somebody else was quicker: then the next look sees his


@dataclass(frozen=True)
class _Wish:
    """A branch, by its leaf, on which what is due is to be folded; `done` once that was looked at."""

    leaf: int
    due: Due
    done: asyncio.Event = field(default_factory=asyncio.Event)


class _Outdated(Exception):
    """What is to be summarised is not what it was when it was read."""


async def _read(conversation_id: uuid.UUID, leaf: int, model: "LocalChatModel") -> Branch | None:
    branch = await in_database(read_past, conversation_id, leaf, model.fingerprint)
    if branch is None:
        return None
    layout = await asyncio.to_thread(within_share, branch.layout, _budget(model), model.count)
    return replace(branch, layout=layout)


def _let_go(branch: Branch, model: "LocalChatModel") -> None:
    """The branch has changed since it was read: what was forgotten meanwhile may have come to the engine after that."""
    model.forget(str(branch.conversation))


def _budget(model: "LocalChatModel") -> Budget:
    return Budget.of(model.context_tokens, settings.LLM_MAX_REPLY_TOKENS)


def _extracted(past: Layout, cut: int, budget: Budget, model: "LocalChatModel") -> str:
    return summary.extracted(past, cut, summary.is_smaller(past, cut, budget, model.count))


def _checked(text: str, past: Layout, cut: int, budget: Budget, model: "LocalChatModel") -> str:
    return summary.check(text, past, cut, summary.is_smaller(past, cut, budget, model.count))
