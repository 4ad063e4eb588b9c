"""Lets the engine use what was found for its model on this machine."""

import logging
from collections.abc import Collection
from dataclasses import replace
from pathlib import Path
from typing import Any

from chat.inference.config import EngineConfig
from chat.inference.model_file import ModelNotLoaded, check_file, fingerprint
from chat.inference.tuning.keeping import NotUsable, Tuning, find
from chat.inference.tuning.machine import this_machine

logger = logging.getLogger(__name__)


def tuned(config: EngineConfig, folder: Path, *, chosen: Collection[str] = ()) -> EngineConfig:
    """The configuration with the tuned weights and settings; as it is where there are none.

    chosen: names of settings that a person set; these win. A tuning that cannot be used is left aside with a line in
    the log; nothing is raised.
    """
    try:
        check_file(config.model_path)
        found = find(folder, fingerprint(config.model_path), this_machine())
    except ModelNotLoaded:
        return config  # whoever loads it says so
    except (NotUsable, OSError) as reason:
        logger.warning("The tuning of %s is left aside. %s", config.model_path.name, reason)
        return config
    return _with(config, found, folder, chosen) if found else config


def _with(config: EngineConfig, tuning: Tuning, folder: Path, chosen: Collection[str]) -> EngineConfig:
    found: dict[str, Any] = {
        "threads": tuning.threads,
        "micro_batch": tuning.micro_batch,
        "busy_batch": min(tuning.busy_batch, config.batch),
    }
    measured = {name: value for name, value in found.items() if value and name not in chosen}
    weights = folder / tuning.weights if tuning.weights else None
    return replace(config, weights_path=weights, flash_attention=tuning.flash_attention, **measured)
