"""Four memories go through the same talk: ours keeps what a window loses, stays within its budget, leaves no trace."""

import pytest

from chat.memory.budget import Budget
from chat.memory.checking.faults import FAULTS, under_faults
from chat.memory.checking.planted import CANARY, OTHER, PRONOUN, SAME, Findings, ask_all
from chat.memory.checking.reading import RuleReader
from chat.memory.checking.scripted import ScriptedChat
from chat.memory.checking.systems import Ours, references
from chat.memory.checking.talks import make_talk
from chat.memory.checking.watching import Watch, share_reused
from chat.models import Message

pytestmark = pytest.mark.django_db(transaction=True)

CONTEXT = 1024


@pytest.fixture
def model():
    return ScriptedChat(reader=RuleReader(), context_tokens=CONTEXT)


@pytest.fixture
def budget(settings):
    return Budget.of(CONTEXT, settings.LLM_MAX_REPLY_TOKENS)


async def test_ours_keeps_what_a_window_loses(alice, bob, model, budget):
    talk = make_talk(1, 40, num_facts=8)
    beside = await Ours.begin(bob, model)
    await beside.fill(talk.canaries["other"])
    ours = await Ours.begin(alice, model)
    systems = [ours, *references(model, budget)]
    watches = {system.name: Watch(system, RuleReader(), budget) for system in systems}
    for exchange in talk.exchanges:
        for watch in watches.values():
            await watch.say(exchange, talk.attacks)
    findings = Findings()
    await ask_all(talk, systems, None, findings, lambda: None)
    assert findings.share(SAME, "ours") >= 80
    assert findings.share(SAME, "window") <= 20
    assert findings.share(SAME, "full history") == 100
    assert findings.tallies[OTHER, "ours"].total == len(talk.kept)
    assert findings.tallies[PRONOUN, "ours"].total > 0
    assert findings.tallies[CANARY, "ours"].hits == 0
    assert watches["ours"].num_over == watches["ours"].num_uncovered == watches["ours"].num_unquoted == 0
    assert watches["full history"].num_over > 0
    assert share_reused([watches["ours"]]) > share_reused([watches["window"]]) + 0.2
    assert any(case.system == "window" and case.right and case.wrong for case in findings.cases)


async def test_a_question_leaves_nothing_behind(alice, model):
    ours = await Ours.begin(alice, model)
    await ours.fill(make_talk(2, 10, num_facts=3).exchanges)
    head, num = ours.conversation.head_id, await Message.objects.acount()
    await ours.ask("What is my dog called?")
    await ours.conversation.arefresh_from_db()
    assert (ours.conversation.head_id, await Message.objects.acount()) == (head, num)


async def test_many_turns_at_once_are_folded_like_single_ones(alice, model):
    talk = make_talk(2, 30, num_facts=3)
    ours = await Ours.begin(alice, model)
    await ours.fill(talk.exchanges)
    assert await ours.conversation.summaries.acount() >= 1
    shown = await ours.ask("And now?")
    assert shown.messages[-2].text == talk.exchanges[-1].assistant
    assert len(shown.path) == 2 * len(talk.exchanges) + 1


async def test_faults_of_the_summariser_uncover_nothing_and_nobody_waits(alice, model):
    ticks = []
    talk = make_talk(3, 8, num_facts=2)
    covered, unwaited, watches = await under_faults(talk, alice, model, RuleReader(), lambda: ticks.append(1))
    assert len(ticks) == len(FAULTS) == len(watches)
    assert not covered.misses
    assert not unwaited.misses
    assert covered.total == len(FAULTS) * len(talk.exchanges)
    assert sum(watch.num_over for watch in watches) == 0
