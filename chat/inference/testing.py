"""A runner without a model, for tests and for looking at the page: it says what a script tells it to."""

import json
import re
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from chat.inference.batch import Batch, ModelInfo, Outcome, Sampled, StepFailed, Work
from chat.inference.request import SamplingParams

CHATML = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
CHATML_THINKING = (
    CHATML + "{% if enable_thinking is defined and not enable_thinking %}<think>\n\n</think>\n\n{% endif %}"
)
_CONTROLS = ("<|im_start|>", "<|im_end|>", "<|endoftext|>", "<think>", "</think>")
_WORDS = re.compile(r"<\|im_start\|>|<\|im_end\|>|<\|endoftext\|>|</?think>|\s?\w+|\s|[^\w\s]")
_TEXT_WORDS = re.compile(r"\s?\w+|\s|[^\w\s]")

# What a script says next: text, the bytes of one token (which may be a control token), or an exception that the step
# raises.
Say = str | bytes | Exception
Script = Callable[[str], Iterable[Say]]


def echo(prompt: str) -> Iterable[Say]:
    """Answers with what the last message said."""
    return ["You said: ", last_message(prompt)]


def endless(_: str) -> Iterator[Say]:
    """Words without an end, slowly enough that a test gets what it waits for before the context is full."""
    while True:
        time.sleep(0.002)
        yield "word "


def last_message(prompt: str) -> str:
    """The text of the last person's message in a ChatML prompt."""
    return prompt.rpartition("<|im_start|>user\n")[2].partition("<|im_end|>")[0]


class ScriptedRunner:
    """Implements chat.inference.batch.Runner. A token is a word; the vocabulary grows as words are met.

    `script` gets the whole prompt as text and gives what the reply says; the reply then ends. `step_seconds` and
    `prompt_token_seconds` are how long steps take. With `steps`, a semaphore, each step waits for a permit, so that
    a test decides when something happens. A parked token takes `token_bytes`, at least 8. `batches` keeps the sizes of
    all steps, for assertions.
    """

    def __init__(
        self,
        script: Script = echo,
        *,
        context: int = 2048,
        slots: int = 4,
        batch: int = 512,
        step_seconds: float = 0.0,
        prompt_token_seconds: float = 0.0,
        steps: threading.Semaphore | None = None,
        template: str = CHATML,
        name: str = "Scripted",
        can_trim: bool = True,
        token_bytes: int = 8,
    ) -> None:
        self._words: dict[bytes, int] = {text.encode(): token for token, text in enumerate(_CONTROLS)}
        self._texts: list[bytes] = list(self._words)
        self._lock = threading.Lock()  # the vocabulary is used from many threads
        self._script = script
        self._said: dict[int, Iterator[Say | None]] = {}
        self._cache: dict[int, list[int]] = {slot: [] for slot in range(slots)}
        self._samplers: set[int] = set()
        self._token_bytes = token_bytes
        self._step_seconds, self._prompt_token_seconds, self._steps = step_seconds, prompt_token_seconds, steps
        self._interrupted = threading.Event()
        self.batches: list[list[tuple[int, int]]] = []
        self.prompts: list[str] = []
        self.closed = False
        self.info = ModelInfo(
            name=name,
            fingerprint="scripted",
            architecture="script",
            vocabulary_size=len(_CONTROLS),
            context=context,
            trained_context=context,
            slots=slots,
            batch=batch,
            chat_template=template,
            bos="",
            eos="<|im_end|>",
            adds_bos=False,
            can_trim=can_trim,
            layout="words",
        )

    def tokenize(self, text: str, *, special: bool) -> list[int]:
        """One token a word."""
        words = (_WORDS if special else _TEXT_WORDS).findall(text)
        return [self._token(word.encode()) for word in words]

    def piece(self, token: int, *, special: bool = False) -> bytes:
        """The word."""
        return b"" if self.is_control(token) and not special else self._texts[token]

    def is_end(self, token: int) -> bool:
        """True for the two end markers."""
        return token in (1, 2)

    def is_control(self, token: int) -> bool:
        """True for the first few."""
        return token < len(_CONTROLS)

    def markers(self) -> dict[int, str]:
        """The control tokens."""
        return dict(enumerate(_CONTROLS))

    def grammar_of(self, schema_json: str) -> str:
        """The schema itself; the script is not bound by it."""
        return schema_json

    def open_sampler(self, slot: int, params: SamplingParams, prompt: Sequence[int]) -> None:
        """Begin the script for this prompt; nothing is left to chance, so the parameters do not matter."""
        del params
        text = b"".join(self.piece(token, special=True) for token in prompt).decode(errors="replace")
        self.prompts.append(text)
        self._samplers.add(slot)
        self._said[slot] = self._tokens(text)

    def close_sampler(self, slot: int) -> None:
        """End the script."""
        self._samplers.discard(slot)
        self._said.pop(slot, None)

    def trim(self, slot: int, keep: int) -> int:
        """Cut the pretended cache, or lose it where it cannot be cut."""
        if keep < len(self._cache[slot]):
            del self._cache[slot][keep if self.info.can_trim else 0 :]
        return len(self._cache[slot])

    def state_size(self, slot: int) -> int:
        """So many bytes a token."""
        return self._token_bytes * len(self._cache[slot])

    def park(self, slot: int) -> memoryview | None:
        """The pretended cache as numbers, and then nothing up to its size."""
        numbers = array("q", self._cache[slot]).tobytes()
        return memoryview(numbers.ljust(self.state_size(slot), b"\0")) if numbers else None

    def unpark(self, slot: int, state: memoryview) -> int:
        """Take these numbers for the pretended cache."""
        count = state.nbytes // self._token_bytes
        self._cache[slot] = array("q", bytes(state[: 8 * count])).tolist()
        return count

    def decode(self, batch: Batch) -> Outcome:
        """Check that the work fits the cache exactly, take the time it is said to take, and say the next words."""
        if self._steps:
            self._wait_for_permit(self._steps)
        outcome = Outcome()
        self.batches.append([(work.slot, len(work.tokens)) for work in batch.works])
        duration = self._step_seconds + self._prompt_token_seconds * batch.num_tokens
        if self._interrupted.wait(duration) if duration else self._interrupted.is_set():
            outcome.held = {work.slot: work.start for work in batch.works}
            return outcome
        for work in batch.works:
            cache = self._cache[work.slot]
            if len(cache) != work.start or work.slot not in self._samplers:
                raise AssertionError(f"slot {work.slot} holds {len(cache)} tokens, the work begins at {work.start}")
            cache.extend(work.tokens)
            if len(cache) > self.info.context:
                raise StepFailed("over the context")
            outcome.held[work.slot] = len(cache)
            if work.samples:
                outcome.sampled[work.slot] = self._sampled(work)
        return outcome

    def cache(self, slot: int) -> list[int]:
        """What the pretended cache of a slot holds."""
        return list(self._cache[slot])

    def interrupt(self) -> None:
        """End the running step."""
        self._interrupted.set()

    def resume(self) -> None:
        """Let steps run."""
        self._interrupted.clear()

    def close(self) -> None:
        """Nothing to free."""
        self.closed = True

    def _wait_for_permit(self, steps: threading.Semaphore) -> None:
        while not steps.acquire(timeout=0.005):
            if self._interrupted.is_set():
                return

    def _sampled(self, work: Work) -> Sampled:
        token, wanted = self._next(work.slot), work.request.sampling.logprobs
        return Sampled(token) if wanted is None else Sampled(token, -0.5, ((token, -0.5),) * min(1, wanted))

    def _next(self, slot: int) -> int:
        said = next(self._said[slot], None)
        if isinstance(said, Exception):
            raise said
        return 1 if said is None else self._token(said if isinstance(said, bytes) else said.encode())

    def _tokens(self, prompt: str) -> Iterator[Say | None]:
        for said in self._script(prompt):
            if isinstance(said, str):
                yield from _TEXT_WORDS.findall(said)
            else:
                yield said

    def _token(self, word: bytes) -> int:
        with self._lock:
            if word not in self._words:
                self._words[word] = len(self._texts)
                self._texts.append(word)
            return self._words[word]


def scripted_from(path: Path) -> ScriptedRunner:
    """A runner by a JSON file.

    It reads `{"context", "slots", "step_seconds", "prompt_token_seconds", "name", "replies": [...]}`.

    A reply is `{"when": regular expression on the last message, "say": text or list of texts, "error": text}`; the
    first that matches is said, and without one the message is repeated.
    """
    settings = json.loads(path.read_text())
    replies = settings.pop("replies", [])
    thinking = settings.pop("thinking", False)

    def script(prompt: str) -> Iterable[Say]:
        asked = last_message(prompt)
        for reply in replies:
            if re.search(reply.get("when", ""), asked):
                return _said(reply)
        return echo(prompt)

    return ScriptedRunner(script, template=CHATML_THINKING if thinking else CHATML, **settings)


def _said(reply: dict[str, object]) -> list[Say]:
    say = reply.get("say", "")
    said: list[Say] = [str(text) for text in say] if isinstance(say, list) else [str(say)]
    return [*said, StepFailed(str(reply["error"]))] if "error" in reply else said


def wait_until(condition: Callable[[], bool], seconds: float = 10.0) -> None:
    """Wait for another thread, in steps of a millisecond. Raises TimeoutError."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            raise TimeoutError("what was waited for did not happen")
        time.sleep(0.001)
