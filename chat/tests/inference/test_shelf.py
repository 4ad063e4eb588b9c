"""Files of parked conversations: checked, bound to the model, within their budget, and gone when forgotten."""

import os
import stat
import threading

import pytest

from chat.inference import GREEDY, Request, shelf
from chat.inference.parking import Parked
from chat.inference.shelf import FileShelf
from chat.inference.shelf_file import SUFFIX
from chat.inference.testing import wait_until

MIB = 1024 * 1024


@pytest.fixture
def shelves(tmp_path):
    """A function that opens the shelf in this test's directory, closing the one before."""
    opened = []

    def start(budget=MIB, binding="model", **options):
        if opened:
            opened[-1].close()
        opened.append(FileShelf(tmp_path, binding, budget, **options))
        return opened[-1]

    yield start
    for one in opened:
        one.close()


def copy(key="alice", start=0, size=8 * 100, parked_at=1.0):
    return Parked(key, list(range(start, start + 100)), memoryview(os.urandom(size)), parked_at)


def put(kept, *copies):
    count = kept.num_parked + len(copies)
    for one in copies:
        kept.put(one)
    wait_until(lambda: kept.num_parked == count)


def fetched(kept, key="alice", start=0):
    """What is fetched for a request that goes on."""
    request, done = Request(list(range(start, start + 110)), GREEDY, cache_key=key), threading.Event()
    if kept.fetch(request, done.set):
        assert done.wait(10)
    return request.fetched


def files(tmp_path):
    return sorted(tmp_path.glob(f"*{SUFFIX}"))


def test_a_copy_comes_back_as_it_was_after_a_restart(shelves):
    parked = copy()
    put(shelves(), parked)
    again = fetched(shelves())
    assert (again.key, again.tokens, bytes(again.state)) == ("alice", parked.tokens, bytes(parked.state))


def test_what_was_fetched_has_left(shelves, tmp_path):
    kept = shelves()
    put(kept, copy())
    assert fetched(kept)
    assert fetched(kept) is None
    assert not files(tmp_path)


def test_only_its_own_conversation_gets_it(shelves):
    kept = shelves()
    put(kept, copy())
    assert fetched(kept, key="bob") is None
    assert fetched(kept, start=50) is None


def test_names_and_rights_tell_nothing(shelves, tmp_path):
    put(shelves(), copy("alice-the-owner"))
    (path,) = files(tmp_path)
    assert "alice" not in path.name
    assert b"alice" not in path.read_bytes()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


@pytest.mark.parametrize("place", [0, 10, 30, 50, 70, 80, 100, 600, -1])
def test_a_damaged_file_is_not_used_and_goes(shelves, tmp_path, place):
    put(shelves(), copy())
    (path,) = files(tmp_path)
    data = bytearray(path.read_bytes())
    data[place] ^= 1
    path.write_bytes(data)
    assert fetched(shelves()) is None
    assert not files(tmp_path) or place == 30  # then it is another conversation's


@pytest.mark.parametrize("size", [0, 5, 95, 200, -1])
def test_a_file_that_was_cut_is_deleted(shelves, tmp_path, size):
    put(shelves(), copy())
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes()[:size])
    assert shelves().num_parked == 0
    assert not files(tmp_path)


def test_a_file_that_is_damaged_while_the_shelf_is_open_is_not_used(shelves, tmp_path):
    kept = shelves()
    put(kept, copy())
    (path,) = files(tmp_path)
    path.write_bytes(path.read_bytes()[:-1] + b"?")
    assert fetched(kept) is None
    assert not files(tmp_path)


def test_another_models_files_are_deleted(shelves, tmp_path):
    put(shelves(), copy())
    assert shelves(binding="other").num_parked == 0
    assert not files(tmp_path)


def test_what_a_crash_left_unfinished_is_deleted_and_other_files_stay(shelves, tmp_path):
    (tmp_path / "a.unfinished").write_text("x")
    (tmp_path / "notes.txt").write_text("x")
    shelves()
    assert {path.name for path in tmp_path.iterdir()} == {"notes.txt", "lock"}


def test_the_budget_holds_and_the_oldest_goes_first(shelves, tmp_path):
    kept = shelves(budget=3000)
    put(kept, copy("a", parked_at=3), copy("b", parked_at=1))
    kept.put(copy("c", parked_at=2))
    wait_until(lambda: not kept._waiting and not kept._written)
    assert sum(path.stat().st_size for path in files(tmp_path)) == kept.num_bytes <= 3000
    assert fetched(kept, "b") is None
    assert fetched(kept, "a")
    assert fetched(kept, "c")


def test_an_older_copy_pushes_no_newer_one_out(shelves):
    kept = shelves(budget=1500)
    put(kept, copy("new", parked_at=2))
    kept.put(copy("old", parked_at=1))
    wait_until(lambda: not kept._waiting and not kept._written)
    assert fetched(kept, "old") is None
    assert fetched(kept, "new")


def test_a_smaller_budget_is_kept_from_the_start(shelves, tmp_path):
    put(shelves(), copy("a"), copy("b"))
    assert shelves(budget=1500).num_parked == 1
    assert len(files(tmp_path)) == 1


def test_a_copy_that_goes_on_stands_for_the_shorter_one(shelves, tmp_path):
    kept = shelves()
    put(kept, copy())
    kept.put(Parked("alice", list(range(200)), memoryview(bytes(10)), 2.0))
    wait_until(lambda: not kept._waiting and not kept._written)
    assert len(files(tmp_path)) == 1
    assert len(fetched(kept).tokens) == 200


class Slow:
    """Holds up the writing of files until it is let go."""

    def __init__(self, monkeypatch):
        self.begun, self.go_on = threading.Event(), threading.Event()
        write = shelf.write_file

        def slow(*what):
            self.begun.set()
            assert self.go_on.wait(10)
            return write(*what)

        monkeypatch.setattr(shelf, "write_file", slow)


def test_forgetting_reaches_what_is_being_written_and_what_waits(shelves, tmp_path, monkeypatch):
    slow, kept = Slow(monkeypatch), shelves()
    kept.put(copy())
    kept.put(copy("bob"))
    kept.put(copy(start=1000))
    assert slow.begun.wait(10)
    kept.forget("alice")
    slow.go_on.set()
    wait_until(lambda: kept.num_parked == 1)
    assert fetched(kept) is None
    assert fetched(kept, "bob")
    assert not list(tmp_path.glob("*.unfinished"))


def test_what_is_not_written_yet_is_fetched_from_memory(shelves, tmp_path, monkeypatch):
    slow, kept = Slow(monkeypatch), shelves()
    parked = copy()
    kept.put(parked)
    assert slow.begun.wait(10)
    assert fetched(kept) is parked
    slow.go_on.set()
    kept.close()
    assert not files(tmp_path)


def test_too_much_on_its_way_is_let_go(shelves, monkeypatch):
    slow, kept = Slow(monkeypatch), shelves()
    monkeypatch.setattr(shelf, "_MOST_WAITING", 1000)
    kept.put(copy("a"))
    assert slow.begun.wait(10)
    for key in "bcd":
        kept.put(copy(key))
    slow.go_on.set()
    wait_until(lambda: not kept._waiting and not kept._written)
    assert kept.num_parked == 2


def test_a_full_disk_is_told_and_survived(shelves, tmp_path, monkeypatch, caplog):
    def full(descriptor, data):
        raise OSError(28, "No space left on device")

    kept = shelves()
    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        kept.put(copy())
        wait_until(lambda: not kept._waiting and not kept._written)
    assert "No space left" in caplog.text
    assert {path.name for path in tmp_path.iterdir()} == {"lock"}
    put(kept, copy("bob"))


def test_one_process_at_a_time_uses_a_directory(shelves, tmp_path):
    shelves()
    with pytest.raises(BlockingIOError):
        FileShelf(tmp_path, "model", MIB)


def test_at_the_end_all_is_written_and_what_was_parked_last_comes_first(shelves, tmp_path, monkeypatch):
    monkeypatch.setattr(shelf, "_MOST_WAITING", 0)
    slow, kept, written = Slow(monkeypatch), shelves(), []
    finish = kept._finish
    monkeypatch.setattr(kept, "_finish", lambda *what: [written.append(what[1].parked_at), finish(*what)])
    for age in (1, 2, 3):
        kept.put(copy(str(age), parked_at=age), always=True)
    assert slow.begun.wait(10)
    closing = threading.Thread(target=kept.close)
    closing.start()
    wait_until(lambda: kept._closes_at)
    slow.go_on.set()
    closing.join(10)
    assert written == [1, 3, 2]  # the first was begun before
    assert len(files(tmp_path)) == 3
