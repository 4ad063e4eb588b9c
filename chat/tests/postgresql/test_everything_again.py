"""What uses the database does the same on PostgreSQL: those tests run again there, in a process of their own."""

import subprocess
import sys

import pytest

from chat.tests.postgresql.__main__ import ROOT


@pytest.mark.postgresql
@pytest.mark.timeout(1200)
def test_the_tests_of_memory_services_and_pages_pass_on_postgresql():
    done = subprocess.run(
        [sys.executable, "-m", "chat.tests.postgresql"], cwd=ROOT, text=True, capture_output=True, check=False
    )
    assert done.returncode == 0, done.stdout[-30_000:] + done.stderr[-5_000:]
