"""How the engine is set up: what a person chose, and what suits the machine where he did not."""

import os
from dataclasses import dataclass
from pathlib import Path

BATCH = 512
# ggml's attention takes its fast path from 64 rows of a sequence on, and beside writers the first token of a piece is
# computed with theirs: in pieces of 65 a prompt of 3,000 tokens was read in 0.56 of the time that pieces of 64 took.
FULL_PIECE = 65
BUSY_BATCH = FULL_PIECE
MICRO_BATCH = 512


@dataclass(frozen=True)
class EngineConfig:
    """Settings of the engine; 0 means: what suits the machine and the model.

    context: tokens a conversation can have, prompt and reply. slots: conversations that are worked on at the same
    time. batch: most tokens a step reads when nobody is writing. busy_batch: the same while somebody is, so that his
    words keep coming; a prompt with up to three times as many left is read at once.
    Queue limits count requests that wait. park_mb: memory for conversations that lost their slot,
    in MiB (0: none, -1: what suits the machine); park_dir: a directory for those that memory has no room for, and for
    all of them when the engine ends, up to park_disk_mb (None: none). weights_path: a file with the same model's
    weights in another format, to be loaded in its place (chat.inference.tuning); name and token ids stay the model's.
    micro_batch: tokens that are computed together within a step.
    """

    model_path: Path
    context: int = 0
    slots: int = 0
    threads: int = 0
    batch: int = BATCH
    busy_batch: int = BUSY_BATCH
    queue_limit: int = 100
    queue_limit_person: int = 20
    park_mb: int = -1
    park_dir: Path | None = None
    park_disk_mb: int = 4096
    weights_path: Path | None = None
    micro_batch: int = MICRO_BATCH
    flash_attention: bool = True

    def __post_init__(self) -> None:
        for name in ("context", "slots", "threads"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} cannot be negative.")
        if not 1 <= self.busy_batch <= self.batch:
            raise ValueError("busy_batch must be from 1 to batch.")
        if self.context and self.context < 256:
            raise ValueError("A context needs at least 256 tokens.")
        if self.slots > 64:
            raise ValueError("More than 64 slots are not supported.")


MOST_SLOTS = 8
DEFAULT_CONTEXT = 4096
# The share of free memory that caches may take by default.
_CACHE_SHARE = 0.4
_MIB = 1024 * 1024
_MOST_PARKED = 1024 * _MIB


def choose_context(config: EngineConfig, trained: int) -> int:
    """Tokens a conversation: what was chosen, never more than the model was trained for (0: unknown)."""
    wanted = config.context or DEFAULT_CONTEXT
    return min(wanted, trained) if trained else wanted


def choose_slots(config: EngineConfig, context: int, bytes_a_token: int) -> int:
    """As many slots as memory has room for, from 1 to MOST_SLOTS, when none were chosen."""
    if config.slots:
        return config.slots
    room = int(available_memory() * _CACHE_SHARE)
    return max(1, min(MOST_SLOTS, room // max(1, context * bytes_a_token)))


def choose_threads(config: EngineConfig) -> int:
    """One thread a physical core that this process may use."""
    return config.threads or max(1, min(_cores(), _cpu_quota()))


def choose_parking(config: EngineConfig) -> int:
    """Bytes of memory for parked conversations: what was chosen, or an eighth of what is free, 1 GiB at most."""
    if config.park_mb >= 0:
        return config.park_mb * _MIB
    return min(_MOST_PARKED, available_memory() // 8)


def available_memory() -> int:
    """Bytes that can be taken without swapping or reaching the control group's limit; 4 GiB where nobody tells."""
    return min(_free_memory(), _memory_left())


def _free_memory() -> int:
    try:
        for line in Path("/proc/meminfo").read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except OSError:
        pass
    return 4 * 1024**3


def _memory_left() -> int:
    """What the control group still grants; a large number without a limit. Cached files give way, so they count."""
    group = Path("/sys/fs/cgroup")
    try:
        limit = (group / "memory.max").read_text().strip()
        used = int((group / "memory.current").read_text())
        figures = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        return max(0, int(limit) - used + int(figures.get("inactive_file", 0))) if limit != "max" else 1024**5
    except (OSError, ValueError):
        return 1024**5


def _cores() -> int:
    """Physical cores: siblings of one core count once, since they share its arithmetic units."""
    if not hasattr(os, "sched_getaffinity"):
        return os.cpu_count() or 1
    cores = set()
    for cpu in os.sched_getaffinity(0):
        siblings = Path(f"/sys/devices/system/cpu/cpu{cpu}/topology/thread_siblings_list")
        cores.add(siblings.read_text().strip() if siblings.exists() else str(cpu))
    return len(cores)


def _cpu_quota() -> int:
    """Whole processors that the control group grants; a large number without a limit."""
    try:
        quota, period = Path("/sys/fs/cgroup/cpu.max").read_text().split()
        return max(1, int(quota) // int(period)) if quota != "max" else 1024
    except (OSError, ValueError):
        return 1024
