"""Writing one reply: a task of the server that reads the engine, feeds whoever follows, and keeps the text saved."""

import asyncio
import contextlib
import contextvars
import logging
import time
from collections.abc import AsyncGenerator, Callable, Coroutine
from functools import partial
from typing import Any, cast
from uuid import UUID

from django.conf import settings
from django.db import Error
from django.utils import timezone
from langchain_core.messages import AIMessageChunk

from chat import memory, rendering, runtime
from chat.database import in_database
from chat.generations import log_generation
from chat.inference.request import EngineFailed, PromptTooLong, QueueFull
from chat.models import MODEL_NAME, Message
from chat.replies import Part, Reply, running
from chat.services.describing import described, in_renderer, plain

logger = logging.getLogger(__name__)

# Seconds between two parts, so that tokens are merged; the first one goes out at once.
MERGE = 0.04
# Seconds that the engine has to end a stopped reply and tell what it cost; it needs a step.
LAST_WORDS = 0.5
# Seconds between two saves of the text while it grows.
SAVE_EVERY = 1.0
# Seconds until the next try when the end of a reply could not be saved; the last one repeats.
TRY_AGAIN = (0.5, 1.0, 2.0, 5.0, 15.0)
# The open end is sent anew with each part. This many characters of it a second: a long paragraph comes in larger steps.
OPEN_PER_SECOND = 1_000_000

NO_ANSWER = "The model gave no answer. Try again, or put it another way."
ONLY_THOUGHT = "The model spent the whole reply on thinking and gave no answer. Try again, or ask for less at once."
WENT_WRONG = "Something went wrong on the server while this was written. Try again; the log has the details."

# Kept here because the loop itself holds tasks by a weak reference alone.
_writing: set[asyncio.Task[None]] = set()
_remembering: set[asyncio.Task[None]] = set()


def start(reply: Reply, row: Message) -> None:
    """Begin to write a registered reply. Nobody's connection can end it: it has a context and a task of its own."""
    _spawn(Writing(reply, row).run(), _writing)


def prewarm(conversation: UUID, leaf: int) -> None:
    """Have the engine read what a conversation's next prompt begins with, if it has nothing else to do."""
    if not runtime.status().ready or any(reply.conversation == conversation for reply in running):
        return
    stats = runtime.chat_model().engine.stats()
    if not stats.running and not stats.waiting:
        _spawn(_prewarm(conversation, leaf), _remembering)


def remember(work: Coroutine[Any, Any, None]) -> None:
    """Let memory work in the background; it ends with the server at the latest."""
    _spawn(work, _remembering)


async def close() -> None:
    """End all replies of this process as interrupted, each with its text saved: the server stops."""
    for task in _remembering:
        task.cancel()
    for reply in running:
        reply.stop(leaving=True)
    if tasks := _writing | _remembering:
        await asyncio.wait(tasks)


async def _prewarm(conversation: UUID, leaf: int) -> None:
    try:
        await memory.prewarm(conversation, leaf, runtime.chat_model())
    except runtime.ModelUnavailable:
        pass
    except Exception:
        logger.exception("The prompt of conversation %s was not read ahead; its next turn reads it.", conversation)


def _spawn(work: Coroutine[Any, Any, None], tasks: set[asyncio.Task[None]]) -> None:
    task = asyncio.get_running_loop().create_task(work, context=contextvars.Context())
    tasks.add(task)
    task.add_done_callback(tasks.discard)


class Writing:
    """One reply on its way from the engine to the database and to whoever follows it."""

    def __init__(self, reply: Reply, row: Message) -> None:
        """`row` is the reply's message as it was stored."""
        self.reply = reply
        self.row = row
        self._rendered = rendering.RenderedStream()
        self._open = ""
        self._unrendered = ""  # Everything since rendering failed.
        self._text: list[str] = []
        self._reasoning: list[str] = []
        self._fresh = asyncio.Event()
        self._last: dict[str, Any] = {}
        self._end_early: Callable[[], None] | None = None  # once the engine has been asked
        self._began = time.monotonic()

    async def run(self) -> None:
        """From the prompt to the last word, and then whatever memory wants to do with it."""
        try:
            status, error = await self._write()
            await self._end(status, error)
        finally:
            running.drop(self.reply)
        if status in (Message.Status.COMPLETE, Message.Status.STOPPED):
            _spawn(self._remember(), _remembering)

    async def _write(self) -> tuple[str, str]:
        source = asyncio.ensure_future(self._generate())
        source.add_done_callback(lambda _: self._fresh.set())
        self.reply.on_stop = partial(self._stop, source)
        if self.reply.stopping:
            source.cancel()
        saving = asyncio.ensure_future(self._keep_saving())
        try:
            await self._pass_on(source)
        except Exception:
            logger.exception("Reply %s could not be passed on.", self.reply.pk)
            source.cancel()
            await asyncio.wait({source})
            return Message.Status.FAILED, WENT_WRONG
        finally:
            saving.cancel()
            await asyncio.wait({saving})
        return self._outcome(source)

    def _stop(self, source: asyncio.Future[None]) -> None:
        if self._end_early and not self.reply.leaving:
            self._end_early()
            asyncio.get_running_loop().call_later(LAST_WORDS, source.cancel)
        else:
            source.cancel()

    def _begun(self, end_early: Callable[[], None]) -> None:
        self._end_early = end_early

    async def _generate(self) -> None:
        model = runtime.chat_model()
        prompt = await memory.prompt_for(self.row, model)
        self.row.model, self.row.fingerprint = model.model_name[:MODEL_NAME], model.fingerprint
        caps: dict[str, Any] = {
            "max_tokens": settings.LLM_MAX_REPLY_TOKENS,
            "max_seconds": settings.LLM_MAX_REPLY_SECONDS,
        }
        self.row.sent = memory.sent_as_stored(prompt, model, **caps)
        stream = model.astream(
            prompt.messages,
            owner=str(self.reply.owner),
            conversation=str(self.reply.conversation),
            **caps,
            on_queued=self.reply.wait_at,
            on_begun=self._begun,
        )
        # An AsyncIterator by its type, a generator in truth: closing it is what ends the engine's work at once.
        async with contextlib.aclosing(cast("AsyncGenerator[AIMessageChunk]", stream)) as chunks:
            async for chunk in chunks:
                self._text.append(chunk.text.replace("\0", ""))  # PostgreSQL would refuse the whole reply.
                self._reasoning.append((chunk.additional_kwargs.get("reasoning_content") or "").replace("\0", ""))
                if "finish_reason" in chunk.response_metadata:
                    self._last = chunk.response_metadata
                self._fresh.set()

    async def _pass_on(self, source: asyncio.Future[None]) -> None:
        while True:
            await self._fresh.wait()
            self._fresh.clear()
            done = source.done()
            await self._flush()
            if done:
                return
            await asyncio.wait({source}, timeout=max(MERGE, len(self._open) / OPEN_PER_SECOND))

    async def _flush(self) -> None:
        text, reasoning = "".join(self._text), "".join(self._reasoning)
        self._text, self._reasoning = [], []
        closed = await self._render(text) if text else ""
        if text or reasoning:
            self.reply.append(text, reasoning, closed, self._open)

    async def _render(self, text: str) -> str:
        """The HTML that is final now; the open end is kept. A fault of rendering costs the looks, not the reply."""
        if not self._unrendered:
            try:
                patch = await in_renderer(self._rendered.push, text)
            except Exception:
                logger.exception("Reply %s cannot be rendered; it is shown as it is.", self.reply.pk)
            else:
                self._open = patch.open
                return patch.closed
        before = self._open.removesuffix(plain(self._unrendered)) if self._unrendered else self._open
        self._unrendered += text
        self._open = before + plain(self._unrendered)
        return ""

    async def _keep_saving(self) -> None:
        """Reads along like everybody else, and saves what there is: the first part at once, then once a second."""
        async for event in self.reply.follow():
            if isinstance(event, Part):
                await self._save()
                await asyncio.sleep(SAVE_EVERY)

    async def _save(self) -> None:
        try:
            row = Message(pk=self.reply.pk)
            sent = {"sent": self.row.sent}
            if not await in_database(row.save_progress, self.reply.text, self.reply.reasoning, **sent):
                self.reply.stop()  # It has been deleted with its conversation.
        except Error as error:
            logger.warning("Reply %s could not be saved while it is written: %s", self.reply.pk, error)

    def _outcome(self, source: asyncio.Future[None]) -> tuple[str, str]:
        """The status of the reply and, for people, why it failed."""
        error = None if source.cancelled() else source.exception()
        if source.cancelled() or self.reply.stopping:
            return (Message.Status.INTERRUPTED if self.reply.leaving else Message.Status.STOPPED), ""
        if error:
            return Message.Status.FAILED, self._explain(error)
        if self._last.get("finish_reason") == "cancelled":
            return Message.Status.INTERRUPTED, ""
        if self._last.get("finish_reason") == "error":
            return Message.Status.FAILED, WENT_WRONG
        if not self.reply.text.strip():
            return Message.Status.FAILED, ONLY_THOUGHT if self.reply.reasoning else NO_ANSWER
        return Message.Status.COMPLETE, ""

    def _explain(self, error: BaseException) -> str:
        known = (EngineFailed, PromptTooLong, QueueFull, memory.MessageTooLong, runtime.ModelUnavailable)
        if isinstance(error, known):
            logger.warning("Reply %s failed: %s", self.reply.pk, type(error).__name__)
            return str(error)
        logger.error("Reply %s failed.", self.reply.pk, exc_info=error)
        return WENT_WRONG

    async def _end(self, status: str, error: str) -> None:
        row, complete = self.row, status == Message.Status.COMPLETE
        row.status, row.error, row.finished_at = status, error, timezone.now()
        row.text, row.reasoning = self.reply.text, self.reply.reasoning
        row.usage = dict(self._last.get("usage") or self._measured(status))
        row.token_ids = self._last.get("token_ids", b"") if complete else b""
        log_generation(
            reply=row.pk,
            source=self.reply.source,
            owner=self.reply.owner,
            model=row.model,
            status=str(status),
            usage=row.usage,
        )
        html = await self._html()
        await self._store(described(row, html))

    async def _html(self) -> str:
        if not self.reply.text or self._unrendered:
            return plain(self.reply.text) if self.reply.text else ""
        try:
            return await in_renderer(self._rendered.finish)
        except Exception:
            logger.exception("Reply %s could not be rendered; it is shown as it is.", self.reply.pk)
            return plain(self.reply.text)

    async def _store(self, final: dict[str, Any]) -> None:
        """Write the end; while that fails, followers have it already and it is tried again."""
        names = ("text", "reasoning", "error", "usage", "token_ids", "fingerprint", "model", "sent")
        fields = {name: getattr(self.row, name) for name in names}
        tries = 0
        while True:
            try:
                await in_database(Message(pk=self.row.pk).finish, final["status"], **fields)
            except Error as error:
                logger.warning("The end of reply %s could not be saved: %s", self.reply.pk, error)
            else:
                break
            if tries == 0:
                self.reply.finish(final)
            await asyncio.sleep(TRY_AGAIN[min(tries, len(TRY_AGAIN) - 1)])
            tries += 1
        if tries == 0:
            self.reply.finish(final)

    def _measured(self, status: str) -> dict[str, Any]:
        reason = "error" if status == Message.Status.FAILED else "cancelled"
        return {"finish_reason": reason, "total_ms": round((time.monotonic() - self._began) * 1000)}

    async def _remember(self) -> None:
        try:
            await memory.after_reply(self.reply.conversation, self.reply.pk, runtime.chat_model())
        except Exception:
            logger.exception("What follows reply %s failed; the reply itself is stored.", self.reply.pk)
