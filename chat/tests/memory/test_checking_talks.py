"""Seeded talks hold what is asked about later, once, and nothing else that could be taken for it."""

import pytest

from chat.memory.checking.looking import says
from chat.memory.checking.talks import make_talk
from chat.memory.checking.wording import WORDINGS
from chat.memory.wanted import content


def texts(talk):
    return [text for exchange in talk.exchanges for text in (exchange.user, exchange.assistant)]


def test_the_same_seed_makes_the_same_talk_and_another_one_another():
    assert make_talk(7, 60) == make_talk(7, 60)
    assert make_talk(7, 60) != make_talk(8, 60)


@pytest.mark.parametrize("turns", [10, 200, 1000])
def test_every_fact_is_told_in_its_beginning_and_nowhere_else(turns):
    talk = make_talk(3, turns, num_facts=6 if turns == 10 else 28)
    told = texts(talk)
    assert len(talk.exchanges) >= turns
    for planted in talk.kept:
        places = [at for at, text in enumerate(told) if says(text, planted.value)]
        assert places, planted
        assert max(places) < len(told) - 2 * turns
        assert len({place // 2 for place in places}) == 1


def test_changed_facts_have_both_values_in_order_and_withdrawn_ones_their_withdrawal():
    talk = make_talk(3, 200)
    told = texts(talk)
    assert talk.changed
    assert talk.withdrawn
    for planted in talk.changed:
        first = next(at for at, text in enumerate(told) if says(text, planted.older[0]))
        assert next(at for at, text in enumerate(told) if says(text, planted.value)) > first
    for planted in talk.withdrawn:
        assert not planted.value
        assert any(planted.wording.topic in text and not says(text, planted.older[0]) for text in told)


def test_other_conversations_have_values_of_their_own():
    talk = make_talk(3, 60)
    assert len(talk.canary_values) == len(set(talk.canary_values))
    assert not any(value in text for value in talk.canary_values for text in texts(talk))
    assert {whose: len(told) for whose, told in talk.canaries.items()} == {"own": 28, "other": 28}


@pytest.mark.parametrize("wording", WORDINGS, ids=lambda wording: wording.topic)
def test_questions_in_other_words_share_no_word_with_the_fact(wording):
    assert not set(content(wording.other)) & set(content(wording.says.replace("{v}", "")))


def test_long_texts_attacks_and_lookalikes_stand_between():
    talk = make_talk(3, 200)
    told = "\n".join(texts(talk))
    assert max(len(text) for text in texts(talk)) > 800
    assert talk.attacks
    assert all(attack in told for attack in talk.attacks)
    similar = [planted.wording.similar.partition("{v}")[0] for planted in talk.kept if planted.wording.similar]
    assert all(beginning in told for beginning in similar)
