"""The log line that each generation leaves: who, which model, how much and how long, never a word of it."""

import logging
from collections.abc import Mapping

from chatsite.logs import Fields

logger = logging.getLogger("chat.generation")

# What of a usage is logged; whatever else somebody puts there is not.
_MEASURED = (
    "prompt_tokens",
    "cached_tokens",
    "restored_tokens",
    "read_tokens",
    "completion_tokens",
    "reasoning_tokens",
    "queued_ms",
    "first_token_ms",
    "total_ms",
    "read_per_second",
    "written_per_second",
    "finish_reason",
)


def log_generation(
    *, source: str, owner: int, model: str, status: str, usage: Mapping[str, object], **ids: int | str
) -> None:
    """Log one generation. `source` is `page` or `api`; `ids` name it: the reply's number or the request's id."""
    measured = {name: usage[name] for name in _MEASURED if name in usage}
    logger.info(Fields(event="generation", **ids, source=source, owner=owner, model=model, status=status, **measured))
