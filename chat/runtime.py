"""The one engine and chat model of this process, built from the settings and started beside the web server."""

import logging
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from django.conf import settings

if TYPE_CHECKING:
    from chat.inference.batch import Runner
    from chat.inference.config import EngineConfig
    from chat.inference.embedding import Embedder
    from chat.inference.observer import Observer
    from chat.llm import LocalChatModel

logger = logging.getLogger(__name__)


class ModelUnavailable(Exception):
    """There is no model to answer; the text gives the reason, for people."""


@dataclass(frozen=True)
class RuntimeStatus:
    """Whether replies can be written, else why not, and the model's name."""

    ready: bool
    reason: str
    model: str


_OFF = "The model is switched off (LLM_AUTOSTART=0)."
LOADING = "loading model"


class Runtime:
    """Holds the model, or the reason why there is none. One for a process; the functions below speak for it."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._model: LocalChatModel | None = None
        self._retired: LocalChatModel | None = None
        self._embedder: Embedder | None = None
        self._reason = _OFF
        self._thread: threading.Thread | None = None

    def start(self) -> None:
        """Load the model in a thread, once; the site answers meanwhile, and says so."""
        with self._lock:
            if self._thread or not settings.LLM_AUTOSTART:
                return
            self._reason = LOADING
            self._thread = threading.Thread(target=self._load, name="load model", daemon=True)
            self._thread.start()

    def retire(self, reason: str) -> None:
        """Take no more questions, for this reason, until `stop` ends the engine."""
        with self._lock:
            self._retired, self._model, self._reason = self._model, None, reason

    def stop(self) -> None:
        """End the engine and every reply that it writes."""
        with self._lock:
            model, self._model, self._reason = self._model or self._retired, None, "The server is shutting down."
            embedder, self._embedder = self._embedder, None
        if model:
            model.engine.close()
        if embedder:
            embedder.close()

    def use(self, model: "LocalChatModel | None", reason: str = _OFF) -> None:
        """Take this model from now on, or none for this reason; whoever made it closes it."""
        with self._lock:
            self._model, self._reason = model, reason

    def use_embedder(self, embedder: "Embedder | None") -> None:
        """Take this embedding model from now on, or none; whoever made it closes it."""
        with self._lock:
            self._embedder = embedder

    def embedder(self) -> "Embedder | None":
        """The embedding model, or None: it is switched off, missing, broken, or still being loaded."""
        return self._embedder

    def status(self) -> RuntimeStatus:
        """What the health check and the pages tell."""
        if model := self._model:
            return RuntimeStatus(ready=True, reason="", model=model.model_name)
        return RuntimeStatus(ready=False, reason=self._reason, model="")

    def chat_model(self) -> "LocalChatModel":
        """The model. Raises ModelUnavailable with the reason while there is none."""
        if model := self._model:
            return model
        loading = self._reason == LOADING
        raise ModelUnavailable("The model is still being loaded. Try again in a moment." if loading else self._reason)

    def wait_until_loaded(self) -> "LocalChatModel":
        """For the command line: load the model if that has not begun, wait, and return it. Raises ModelUnavailable."""
        self.start()
        if self._thread:
            self._thread.join()
        return self.chat_model()

    def _load(self) -> None:
        started = time.monotonic()
        self.use_embedder(_embedder(self._is_writing))
        try:
            model = build()
        except Exception as error:
            _log_failure(error)
            self.use(None, str(error) or type(error).__name__)
            return
        info = model.engine.info
        logger.info(
            "%s%s is ready after %.1f s: %d conversations at a time, %d tokens each",
            info.name, f" as {info.format}" if info.weights not in {"", info.fingerprint} else "",
            time.monotonic() - started, info.slots, info.context,
        )  # fmt: skip
        self.use(model)

    def _is_writing(self) -> bool:
        return bool(self._model and self._model.engine.stats().running)


_runtime = Runtime()
start = _runtime.start
stop = _runtime.stop
use = _runtime.use
retire = _runtime.retire
use_embedder = _runtime.use_embedder
embedder = _runtime.embedder
status = _runtime.status
chat_model = _runtime.chat_model
wait_until_loaded = _runtime.wait_until_loaded


def build() -> "LocalChatModel":
    """A started engine with its chat model, by the settings. Raises ModelNotLoaded of chat.inference.model_file."""
    from chat.inference import Engine, SamplingParams
    from chat.llm import LocalChatModel

    config = _config()
    engine = Engine(_runner(config), config, _observer())
    engine.prompts.shared_system = settings.CHAT_SYSTEM_PROMPT
    engine.start()
    sampling = SamplingParams(
        temperature=settings.LLM_TEMPERATURE,
        max_tokens=settings.LLM_MAX_REPLY_TOKENS,
        max_seconds=settings.LLM_MAX_REPLY_SECONDS,
    )
    return LocalChatModel(engine=engine, sampling=sampling, thinking=settings.LLM_REASONING)


def _observer() -> "Observer | None":
    if not settings.METRICS_TOKEN:
        return None
    from chat.metrics.figures import figures

    return figures


def _config() -> "EngineConfig":
    """The settings, and what was tuned for what they leave open."""
    from chat.inference.config import BATCH, BUSY_BATCH, EngineConfig

    batch = settings.LLM_BATCH or max(BATCH, settings.LLM_BUSY_BATCH)
    config = EngineConfig(
        model_path=settings.LLM_MODEL_PATH,
        context=settings.LLM_CONTEXT,
        slots=settings.LLM_SLOTS,
        threads=settings.LLM_THREADS,
        batch=batch,
        busy_batch=min(settings.LLM_BUSY_BATCH or BUSY_BATCH, batch),
        queue_limit=settings.LLM_QUEUE_LIMIT,
        queue_limit_person=settings.LLM_QUEUE_LIMIT_PERSON,
        park_mb=settings.LLM_PARK_MB,
        park_dir=settings.LLM_PARK_DIR,
        park_disk_mb=settings.LLM_PARK_DISK_MB,
    )
    if settings.LLM_SCRIPT or not settings.LLM_TUNED:
        return config
    from chat.inference.tuning import tuned

    chosen = {"threads": settings.LLM_THREADS, "busy_batch": settings.LLM_BUSY_BATCH}
    return tuned(config, settings.DATA_DIR / "tuned", chosen=[name for name, value in chosen.items() if value])


def _runner(config: "EngineConfig") -> "Runner":
    if settings.LLM_SCRIPT:
        from chat.inference.testing import scripted_from

        return scripted_from(Path(settings.LLM_SCRIPT))
    from chat.inference.llama import LlamaRunner
    from chat.inference.model_file import ModelNotLoaded

    try:
        return LlamaRunner(config)
    except ModelNotLoaded as error:
        if not config.weights_path:
            raise
        logger.warning("The tuned weights are left aside: %s", error)
        return LlamaRunner(replace(config, weights_path=None))


def _embedder(is_writing: Callable[[], bool]) -> "Embedder | None":
    """The embedding model by the settings; None, with one warning, when it cannot be loaded. Replies need none."""
    path = settings.EMBED_MODEL_PATH
    if path == Path("scripted"):
        from chat.inference.embedding_testing import ScriptedEmbedder

        return ScriptedEmbedder(is_writing=is_writing)
    if path == Path("off") or settings.LLM_SCRIPT:
        return None
    from chat.inference.embedding import Embedder
    from chat.inference.llama.embedder import LlamaEmbedding
    from chat.inference.model_file import ModelNotLoaded

    try:
        return Embedder(LlamaEmbedding(path), is_writing)
    except ModelNotLoaded as error:
        logger.warning("No embedding model, so memory is searched by words alone: %s", error)
    except Exception:
        logger.warning("No embedding model, so memory is searched by words alone", exc_info=True)
    return None


def _log_failure(error: Exception) -> None:
    from chat.inference.model_file import ModelNotLoaded

    if isinstance(error, ModelNotLoaded):
        logger.error("No model: %s", error)
    else:
        logger.error("No model", exc_info=error)
