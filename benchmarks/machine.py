"""Which machine and which versions a measurement is about."""

import os
import platform
import re
import subprocess
import sys
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

from benchmarks.servers import ROOT

# How each library was compiled is asked in a process of its own: both have symbols of the same name.
_COMPILED = {
    "llama_cpp": "import llama_cpp; print(llama_cpp.llama_print_system_info().decode())",
    "xllamacpp": "import xllamacpp; print(xllamacpp.get_system_info())",
}


def described(model: Path, threads: int) -> list[str]:
    """Lines for people: machine, software, model, date."""
    return [
        f"{_processor()}, {os.cpu_count()} processors seen, {_memory()} of memory, {platform.platform(terse=True)}",
        f"ours {_commit()}, Python {platform.python_version()}, llama-cpp-python {version('llama_cpp_python')}"
        f" ({_features('llama_cpp')})",
        f"peer xllamacpp {version('xllamacpp')} ({_features('xllamacpp')})",
        f"{model.name}, {threads} threads each, {datetime.now(UTC):%Y-%m-%d}",
    ]


def _processor() -> str:
    found = re.search(r"model name\s*:\s*(.+)", _read("/proc/cpuinfo"))
    return found[1].strip() if found else platform.processor() or platform.machine()


def _memory() -> str:
    found = re.search(r"MemTotal:\s*(\d+)", _read("/proc/meminfo"))
    return f"{int(found[1]) / 2**20:.0f} GiB" if found else "an unknown amount"


def _read(path: str) -> str:
    try:
        return Path(path).read_text()
    except OSError:
        return ""


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or "of unknown revision"


def _features(library: str) -> str:
    done = subprocess.run([sys.executable, "-c", _COMPILED[library]], capture_output=True, text=True, check=False)
    names = re.findall(r"(\w+) = 1", done.stdout)
    return " ".join(names) or "features unknown"
