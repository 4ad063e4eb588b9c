"""Vectors come from a thread that serves the most urgent first and gives way to replies."""

import asyncio
import threading
from concurrent.futures import CancelledError

import numpy as np
import pytest

from chat.inference import EngineFailed, QueueFull
from chat.inference.embedding import MAX_WAITING, MAX_WAITING_PERSON, MAX_WINDOWS, Urgency
from chat.inference.embedding_testing import ScriptedEmbedder
from chat.inference.testing import wait_until


@pytest.fixture
def embedder():
    """One whose `gate`, once cleared, holds its thread back; `order` keeps the first token of each batch's windows."""
    made = Gated()
    yield made
    made.gate.set()
    made.close()


class Gated(ScriptedEmbedder):
    """A scripted embedder that a test can hold."""

    def __init__(self, **options):
        super().__init__(**options)
        self.gate, self.entered, self.order = threading.Event(), threading.Semaphore(0), []
        self.gate.set()
        compute = self.model.vectors

        def gated(windows):
            self.order.append([window[0] for window in windows])
            self.entered.release()
            assert self.gate.wait(10)
            return compute(windows)

        self.model.vectors = gated

    def hold(self):
        """Keep its thread busy with one text, whose future is returned."""
        self.gate.clear()
        future = self.submit([[1]])
        assert self.entered.acquire(timeout=10)
        return future


def test_vectors_have_length_one_and_stand_in_order(embedder):
    vectors = embedder.embed(["a dog", "a cat", "a dog"])
    assert vectors.shape == (3, embedder.info.dims)
    assert vectors.dtype == np.float32
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)
    assert vectors[0] @ vectors[2] == pytest.approx(1)
    assert vectors[0] @ vectors[1] < 0.9


def test_nothing_gives_nothing_and_an_empty_text_zeros(embedder):
    assert embedder.embed([]).shape == (0, embedder.info.dims)
    vectors = embedder.embed(["", "word", " \n"])
    assert vectors.any(axis=1).tolist() == [False, True, False]


def test_many_texts_are_computed_in_small_batches(embedder):
    alone = embedder.embed(["word 39"])
    embedder.model.batches.clear()
    vectors = embedder.embed([f"word {number}" for number in range(40)])
    assert embedder.model.batches == [8] * 5
    assert vectors[39] @ alone[0] == pytest.approx(1)


def test_a_long_text_is_the_mean_of_its_windows(embedder):
    context = embedder.info.context
    one, other = embedder.model.vectors([[1], [2]])
    mean = (context * one + context / 2 * other) / (1.5 * context)
    vector = embedder.submit([[1] * context + [2] * (context // 2)]).result()[0]
    assert vector @ mean / np.linalg.norm(mean) == pytest.approx(1)


def test_what_comes_after_the_last_window_does_not_count(embedder):
    full = [1] * embedder.info.max_tokens
    one, longer = embedder.submit([full, full + [2] * 1000]).result()
    assert np.array_equal(one, longer)
    assert embedder.info.max_tokens == MAX_WINDOWS * embedder.info.context


def test_a_query_goes_before_programs_and_the_index(embedder):
    embedder.hold()
    index = embedder.submit([[4]], Urgency.INDEX)
    embedder.submit([[3]], Urgency.PROGRAM)
    embedder.submit([[2]], Urgency.QUERY)
    embedder.gate.set()
    index.result(10)
    assert embedder.order == [[1], [2], [3], [4]]


def test_a_query_waits_for_one_batch_of_a_long_job_at_most(embedder):
    embedder.gate.clear()
    long = embedder.submit([[9]] * 80, Urgency.INDEX)
    assert embedder.entered.acquire(timeout=10)
    query = embedder.submit([[2]])
    embedder.gate.set()
    query.result(10)
    assert [2] in embedder.order[:2]
    assert long.result(10).shape[0] == 80


def test_jobs_of_the_same_urgency_take_turns(embedder):
    embedder.hold()
    jobs = [embedder.submit([[text]] * 16) for text in (2, 3)]
    embedder.gate.set()
    for job in jobs:
        job.result(10)
    assert [batch[0] for batch in embedder.order] == [1, 2, 3, 2, 3]


def test_the_index_rests_while_replies_are_written_and_queries_do_not():
    writing = threading.Event()
    writing.set()
    embedder = Gated(is_writing=writing.is_set)
    embedder._free_at[Urgency.INDEX] = float("inf")
    index = embedder.submit([[2]], Urgency.INDEX)
    embedder.submit([[3]], Urgency.QUERY).result(10)
    assert not index.done()
    writing.clear()
    index.result(10)
    assert embedder.order == [[3], [2]]
    embedder.close()


def test_the_index_is_never_starved():
    embedder = ScriptedEmbedder(is_writing=lambda: True)
    assert embedder.embed(["word"] * 30, Urgency.INDEX).shape[0] == 30
    embedder.close()


def test_a_job_that_is_cancelled_is_dropped(embedder):
    embedder.hold()
    dropped, kept = embedder.submit([[2]] * 80), embedder.submit([[3]])
    dropped.cancel()
    embedder.gate.set()
    kept.result(10)
    assert [2] not in [batch[:1] for batch in embedder.order]
    with pytest.raises(CancelledError):
        dropped.result()


async def test_leaving_the_async_form_cancels_the_work(embedder):
    embedder.hold()
    task = asyncio.create_task(embedder.aembed(["word"] * 80))
    while len(embedder._jobs) < 2:
        await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    embedder.gate.set()
    assert (await embedder.aembed(["word"])).shape[0] == 1
    assert len(embedder.order) == 2


def test_a_failure_is_told_and_the_next_one_is_served(embedder):
    embedder.model.fails = EngineFailed("no")
    embedder.model.vectors = type(embedder.model).vectors.__get__(embedder.model)
    with pytest.raises(EngineFailed, match="no"):
        embedder.embed(["word"])
    embedder.model.fails = None
    assert embedder.embed(["word"]).any()


def test_one_person_cannot_fill_the_queue(embedder):
    embedder.hold()
    for _ in range(MAX_WAITING_PERSON):
        embedder.submit([[2]], Urgency.PROGRAM, person=7)
    with pytest.raises(QueueFull, match="embedding") as refused:
        embedder.submit([[2]], Urgency.PROGRAM, person=7)
    assert refused.value.personal
    embedder.submit([[2]], Urgency.PROGRAM, person=8)


def test_the_queue_is_short(embedder):
    embedder.hold()
    for _ in range(MAX_WAITING - 1):
        embedder.submit([[2]])
    with pytest.raises(QueueFull) as refused:
        embedder.submit([[2]])
    assert not refused.value.personal


def test_closing_fails_what_waits_and_frees_the_model(embedder):
    held, waiting = embedder.hold(), embedder.submit([[2]])
    closing = threading.Thread(target=embedder.close)
    closing.start()
    wait_until(lambda: embedder._closing)
    embedder.gate.set()
    closing.join(10)
    assert held.result().shape[0] == 1
    with pytest.raises(EngineFailed, match="shut down"):
        waiting.result()
    with pytest.raises(EngineFailed, match="shut down"):
        embedder.embed(["word"])
    assert embedder.model.closed
    embedder.close()


def test_one_that_was_never_used_is_freed_as_well():
    embedder = ScriptedEmbedder()
    embedder.close()
    assert embedder.model.closed


def test_a_test_can_say_which_words_are_alike():
    embedder = ScriptedEmbedder(alike=[("dog", "pet", "puppy")])
    question, near, far = embedder.embed(["my pet", "My puppy", "blue sky"])
    assert question @ near > 0.99 > 0.5 > question @ far
    embedder.close()
