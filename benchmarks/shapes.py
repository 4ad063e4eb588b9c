"""Other sizes of model: how speed grows with the batch and falls with the context, and how ours stands to the peer."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from gguf import GGMLQuantizationType

from benchmarks import synthetic, tables
from benchmarks.comparing import Comparison, Files, compare
from benchmarks.floor import bare
from benchmarks.servers import Home, Setup
from benchmarks.synthetic import FORMATS, SHAPES
from benchmarks.targets import WORKS, Work

BATCHES, DEPTHS = (1, 4, 8, 16), (128, 1024)
_STEPS = 16
_BESIDE_PEER = "Q8_0"  # what the site prepares models to; the other format is for the sweeps alone
_WORKS: tuple[Work, ...] = tuple(work for work in WORKS if work.name in {"one", "eight"})
Say = Callable[[str], None]


@dataclass(frozen=True)
class Sweep:
    """What the bare loop reached at one depth: tokens a second of reading, and of writing at each batch size."""

    depth: int
    read: float
    written: list[float]


@dataclass(frozen=True)
class Measured:
    """All figures of one shape in one format; `size` is the file's bytes. Not each is held against the peer."""

    name: str
    size: int
    sweeps: list[Sweep]
    comparisons: list[Comparison]


def measured(home: Home, vocabulary_of: Path, threads: int, turns: int, say: Say) -> Iterator[Measured]:
    """Write each file, measure with it and remove it."""
    for shape in SHAPES:
        for name, kind in FORMATS.items():
            title = f"{shape.name} {name}"
            with _written(home.path.with_name(f"random-{shape.name}.{name}.gguf"), shape, kind, vocabulary_of) as file:
                size = file.stat().st_size
                say(f"{title}: {size / 2**20:.0f} MiB")
                sweeps = _sweeps(home, file, threads, say)
                works = _WORKS if name == _BESIDE_PEER else ()
                yield Measured(title, size, sweeps, compare(works, Files(file, None), home, threads, turns, say))


def sweep_rows(shapes: list[Measured]) -> tables.Rows:
    """Rows for people: tokens a second."""
    rows = [["model", "file", "context", "reading", *(f"{batch} writing" for batch in BATCHES)]]
    for one in shapes:
        for sweep in one.sweeps:
            speeds = [f"{speed:.0f}" for speed in (sweep.read, *sweep.written)]
            rows.append([one.name, f"{one.size / 2**20:.0f} MiB", str(sweep.depth), *speeds])
    return rows


def peer_rows(shapes: list[Measured]) -> tables.Rows:
    """Rows for people: ours beside the peer."""
    rows: tables.Rows = []
    for one in shapes:
        head, *body = tables.comparison_rows(one.comparisons)
        rows = rows or [["model", *head]]
        rows += [[one.name, *row] for row in body]
    return rows


def _sweeps(home: Home, file: Path, threads: int, say: Say) -> list[Sweep]:
    with bare(home, file, Setup(max(BATCHES), max(DEPTHS) + 256, threads)) as loop:
        sweeps = []
        for depth in DEPTHS:
            speeds = [loop.measure(batch, depth, _STEPS) for batch in BATCHES]
            sweeps.append(Sweep(depth, max(read for read, _ in speeds), [written for _, written in speeds]))
            say(f"{depth} tokens of context: {sweeps[-1].read:.0f} tokens a second read")
        return sweeps


@contextmanager
def _written(file: Path, shape: synthetic.Shape, kind: GGMLQuantizationType, vocabulary_of: Path) -> Iterator[Path]:
    """The file, for as long as it is needed: some take 1.4 GB."""
    synthetic.write(file, shape, kind, vocabulary_of)
    try:
        yield file
    finally:
        file.unlink()
