"""The servers work one after the other, never two at once, with the same words in the same turn."""

from benchmarks.comparing import Match
from benchmarks.targets import Target, Work
from benchmarks.vocabulary import Vocabulary

VOCABULARY = Vocabulary(["<|end|>", "Ġapple", "Ġbanana", "Ġcherry"], [3, 1, 1, 1])


class Silent:
    """A server that only notes who may run."""

    url, key = "http://127.0.0.1:1", ""

    def __init__(self, name, log):
        self.name, self.log = name, log

    def resume(self):
        self.log.append(("resume", self.name))

    def pause(self):
        self.log.append(("pause", self.name))


def play(turns, failing=False):
    log, heard = [], []

    async def scenario(visit):
        heard.append(visit.words(5))
        if failing:
            raise TimeoutError
        return {"first": float(len(heard))}

    servers = {name: Silent(name, log) for name in ("ours", "peer")}
    work = Work("any", scenario, (Target("any", "first", "s"),))
    try:
        return Match(servers, VOCABULARY, lambda _: None).play(work, turns), log, heard
    except TimeoutError:
        return None, log, heard


def test_only_one_runs_at_a_time():
    _, log, _ = play(2)
    for (begun, server), (ended, same) in zip(log[::2], log[1::2], strict=True):
        assert (begun, ended, server) == ("resume", "pause", same)


def test_nobody_is_always_first():
    _, log, _ = play(3)
    assert [server for what, server in log if what == "resume"] == ["ours", "peer", "peer", "ours", "ours", "peer"]


def test_a_server_is_paused_though_its_work_failed():
    _, log, _ = play(1, failing=True)
    assert log == [("resume", "ours"), ("pause", "ours")]


def test_both_get_the_same_words_in_a_turn_and_fresh_ones_in_the_next():
    _, _, heard = play(2)
    assert heard[0] == heard[1]
    assert heard[2] == heard[3]
    assert heard[0] != heard[2]


def test_figures_of_a_turn_stand_at_the_same_place():
    [comparison], _, _ = play(2)
    assert (comparison.ours, comparison.peer, comparison.tuned) == ([1.0, 4.0], [2.0, 3.0], [])
