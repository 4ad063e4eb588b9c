"""The command line of `bin/bench`."""

import argparse
import signal
import sys
import tempfile
from pathlib import Path

from benchmarks import floor, machine, remembering, shapes, tables
from benchmarks.client import ServerFailed
from benchmarks.comparing import Files, compare
from benchmarks.servers import ROOT, Home
from benchmarks.targets import WORKS
from chat.inference.config import EngineConfig, choose_threads

_ABOUT = (
    "Measures the site: beside a peer that serves the same file (peer), with its memory (memory), beside the bare "
    "library (floor), and on larger models of random weights (shapes). docs/performance.md has the results."
)
_MODEL = ROOT / "var" / "models" / "SmolLM2-135M-Instruct.Q4_1.gguf"
_CONVERSATION, _BLOCK = 200, 50  # turns of the conversation through memory, and of a row of its table


def main() -> int:
    """Measure what the arguments ask for. 0: all bounds are met, 1: some are not, 2: it could not be measured."""
    options = _options()
    # Ended from outside, the servers end with us, paused or not.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        with tempfile.TemporaryDirectory(prefix="bench-") as folder:
            return _RUN[options.what](options, Home.made(Path(folder) / "home"))
    except (ServerFailed, OSError, ValueError, TimeoutError) as error:
        sys.stderr.write(f"bench: {error or 'a server took too long'}\n")
        return 2


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="bin/bench", description=_ABOUT)
    parser.add_argument("what", nargs="?", choices=_RUN, default="peer", help="beside what (peer)")
    parser.add_argument(
        "--only", action="append", choices=[work.name for work in WORKS], help="of peer: this work alone"
    )
    parser.add_argument(
        "--turns", type=_count, default=3, help="how often, in turn with the others; the median counts (3)"
    )
    parser.add_argument("--quick", action="store_true", help="once and short, to see that everything works")
    parser.add_argument("--model", type=Path, default=_MODEL, help="the GGUF file that both serve")
    parser.add_argument(
        "--tuned", type=Path, help="of peer: the same model with prepared weights, which only ours serves"
    )
    parser.add_argument("--threads", type=_count, default=choose_threads(EngineConfig(_MODEL)), help="of each server")
    parser.add_argument("--markdown", type=Path, help="write the table into this file as well, between its markers")
    options = parser.parse_args()
    if options.quick:
        options.turns = 1
    if options.only and options.markdown:
        parser.error("The page has the whole table: leave out --only or --markdown.")
    for file in (options.model, options.tuned):
        if file and not file.is_file():
            parser.error(f"There is no file {file}.")
    return options


def _count(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError("must be 1 or more")
    return number


def _peer(options: argparse.Namespace, home: Home) -> int:
    works = [work for work in WORKS if not options.only or work.name in options.only]
    files = Files(options.model.resolve(), options.tuned.resolve() if options.tuned else None)
    comparisons = compare(works, files, home, options.threads, options.turns, _say)
    _publish(options, "peer", tables.comparison_rows(comparisons))
    return 1 if tables.missed(comparisons) else 0


def _memory(options: argparse.Namespace, home: Home) -> int:
    turns = 60 if options.quick else _CONVERSATION
    seconds = remembering.remember(Files(options.model.resolve(), None), home, options.threads, turns, _say)
    _publish(options, "memory", remembering.blocks(seconds, _BLOCK))
    return 0


def _floor(options: argparse.Namespace, home: Home) -> int:
    measured = floor.floor(home, options.model.resolve(), options.threads, options.turns, _say)
    _publish(options, "floor", floor.floor_rows(measured))
    return 0 if all(floor.share(pairs) >= floor.LEAST for pairs in measured.values()) else 1


def _shapes(options: argparse.Namespace, home: Home) -> int:
    turns = min(options.turns, 2)  # larger models take their time
    measured = list(shapes.measured(home, options.model.resolve(), options.threads, turns, _say))
    _publish(options, "shapes", shapes.sweep_rows(measured))
    _publish(options, "shapes beside the peer", shapes.peer_rows(measured))
    return 0


def _publish(options: argparse.Namespace, part: str, rows: tables.Rows) -> None:
    about = machine.described(options.model, options.threads)
    sys.stdout.write("\n".join(["", *about, "", tables.as_text(rows), ""]))
    if options.markdown:
        lines = [tables.as_markdown(rows), "", *(f"- {line}" for line in about)]
        tables.update(options.markdown, part, "\n".join(lines))


def _say(line: str) -> None:
    sys.stderr.write(f"  {line}\n")
    sys.stderr.flush()


_RUN = {"peer": _peer, "memory": _memory, "floor": _floor, "shapes": _shapes}

if __name__ == "__main__":
    sys.exit(main())
