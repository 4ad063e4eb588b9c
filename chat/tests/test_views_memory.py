"""The memory panel: what it shows, and that each wish is done or refused with a reason."""

import re

import pytest
from django.urls import reverse

from chat import runtime
from chat.models import Conversation, RefusedPost, Summary
from chat.services import remembering
from chat.tests.memory.fakes import converse, loaded

pytestmark = pytest.mark.django_db(transaction=True)
HTMX = {"HX-Request": "true"}
HOSTILE = "<img src=x onerror=alert(1)>"


@pytest.fixture
def model(monkeypatch):
    """A model that counts tokens."""
    model = loaded(monkeypatch, context_tokens=640)
    monkeypatch.setattr(runtime, "status", lambda: runtime.RuntimeStatus(ready=True, reason="", model="Fake"))
    return model


@pytest.fixture
def conversation(alice):
    """Two turns, which nothing stands for yet."""
    leaf = converse(alice, "My dog is called Rex.", "Nice.", "He is 5.", "A good age.")
    Conversation.objects.filter(pk=leaf.conversation_id).update(head=leaf)
    return Conversation.objects.get(pk=leaf.conversation_id)


@pytest.fixture
def summary(conversation):
    """Stands for the first turn."""
    first = conversation.branch()[1]
    return conversation.summaries.create(
        covers_until=first, text="The dog is called Rex.", author="model", model="Fake"
    )


@pytest.fixture
def ask(client, alice, conversation):
    """Opens an address of Alice's conversation, as the page's scripts do unless `headers` say otherwise."""
    client.force_login(alice, backend="django.contrib.auth.backends.ModelBackend")

    def ask(name, *ids, method="get", headers=HTMX, **fields):
        return getattr(client, method)(reverse(name, args=[conversation.pk, *ids]), fields, headers=headers)

    return ask


def words(answer):
    """The text that is shown, its white space as a browser shows it."""
    return " ".join(re.sub(r"<[^>]+>", " ", answer.text).split())


def test_before_anything_is_summarised_it_says_so(ask, model):
    shown = words(ask("memory"))
    assert "Nothing is summarised yet: all 4 messages are shown to the model word for word." in shown
    assert "None. A message that you pin" in shown
    assert "Versions" not in shown
    assert "% of the context is used" in shown


def test_it_says_what_is_remembered_by_whom_and_what_it_stands_for(ask, summary, model):
    shown = words(ask("memory"))
    assert "Written by the model Fake" in shown
    assert "The dog is called Rex." in shown
    assert "It stands for 2 messages" in shown
    assert "My dog is called Rex." in shown
    assert "2 newer messages are shown to the model word for word." in shown


def test_without_a_model_everything_but_the_tokens_is_shown(ask, summary):
    answer = ask("memory")
    assert "The dog is called Rex." in answer.text
    assert "No model is loaded, so tokens cannot be counted." in answer.text
    assert re.search(r"<button[^>]*id=\"memory-compact\"[^>]*disabled", answer.text)
    assert "No model is loaded, so nothing can be summarised now." in answer.text


def test_a_page_of_its_own_serves_who_has_no_scripts(ask, summary, model):
    answer = ask("memory", headers={})
    assert "<title>" in answer.text
    assert 'id="message-form"' in answer.text
    assert "<html" not in ask("memory").text
    assert ask("compact_memory", method="post", headers={})["Location"] == reverse(
        "memory", args=[summary.conversation_id]
    )


def test_the_gauge_alone_is_small(ask, summary, model):
    text = ask("memory", part="gauge").text
    assert "% of the context is used" in text
    assert "Rex" not in text


def test_a_correction_is_a_new_version_and_the_old_one_can_be_restored(ask, conversation, summary, model):
    saved = ask("edit_summary", summary.pk, method="post", text="The dog is called Max.")
    assert "Saved." in saved.text
    assert "Written by a person" in saved.text
    assert "<del>Rex.</del><ins>Max.</ins>" in saved.text
    restored = ask("restore_summary", summary.pk, method="post")
    assert "Restored." in restored.text
    assert remembering.look(conversation.pk, conversation.owner_id).summary == summary


@pytest.mark.parametrize(("text", "reason"), [("many words " * 400, "tokens"), ("\u200b", "can be seen")])
def test_a_refused_correction_stays_in_the_box_with_the_reason(ask, summary, model, text, reason):
    answer = ask("edit_summary", summary.pk, method="post", text=text)
    assert answer.status_code == 422
    assert text.strip() in answer.text
    assert reason in re.search(r"errorlist.*?</ul>", answer.text, re.DOTALL)[0]
    assert Summary.objects.count() == 1


def test_the_panel_and_the_dialogs_are_inert_whatever_was_said(ask, conversation, summary, model):
    conversation.messages.update(text=HOSTILE, pinned=True)
    conversation.summaries.update(text=HOSTILE, model=HOSTILE)
    conversation.summaries.create(
        covers_until=conversation.branch()[1], text=HOSTILE, author="person", grown_from=summary
    )
    message = conversation.head_id
    for answer in (ask("memory"), ask("edit_summary", summary.pk), ask("forget_message", message)):
        assert answer.status_code == 200
        assert HOSTILE not in answer.text
        assert "&lt;img src=x" in answer.text


def test_compacting_says_so_and_asks_again(ask, conversation, model, monkeypatch):
    asked = []

    async def compact(*place, tab):
        asked.append(place)
        monkeypatch.setattr(remembering, "_compacting", {conversation.pk})
        return True

    monkeypatch.setattr(remembering, "compact", compact)
    answer = ask("compact_memory", method="post")
    assert asked == [(conversation.pk, conversation.owner_id)]
    assert "Older messages are being summarised" in answer.text
    assert 'hx-trigger="load delay:2s"' in answer.text
    assert "memory-compact" not in answer.text


def test_a_pin_holds_until_it_is_taken_off(ask, conversation, model):
    message = conversation.path()[0]
    for pinned, count in (("1", 1), ("0", 0)):
        assert ask("pin_message", message, method="post", pinned=pinned).status_code == 204
        assert conversation.messages.filter(pinned=True).count() == count
    gone = ask("pin_message", message, method="post", headers={}, pinned="1")
    assert gone["Location"].endswith(f"#message-{message}")
    assert "My dog is called Rex." in words(ask("memory")).partition("Pinned messages")[2]


def test_a_pin_that_does_not_fit_is_refused_with_both_numbers(ask, conversation, model):
    long = converse(
        conversation.owner, "word " * 400, "Yes.", after=conversation.branch()[-1], conversation=conversation
    )
    Conversation.objects.filter(pk=conversation.pk).update(head=long)
    for headers in (HTMX, {}):
        answer = ask("pin_message", long.parent_id, method="post", headers=headers, pinned="1")
        assert answer.status_code == 422
        assert re.search(r"would have [\d,]+ tokens; [\d,]+ are kept", answer.text)
    assert not conversation.messages.filter(pinned=True).exists()


def test_forgetting_asks_first_and_says_what_goes(ask, conversation):
    message = conversation.path()[0]
    asked = words(ask("forget_message", message))
    assert "My dog is called Rex." in asked
    assert "cannot be restored" in asked
    assert re.search(r"with_answers[^>]*checked", ask("forget_message", message).text)
    assert conversation.messages.filter(text="My dog is called Rex.").exists()


@pytest.mark.parametrize(("fields", "count"), [({"with_answers": "on"}, 2), ({}, 1)])
def test_what_is_forgotten_leaves_a_note_in_the_page(ask, conversation, fields, count):
    message = conversation.path()[0]
    answer = ask("forget_message", message, method="post", **fields)
    assert answer.status_code == 204
    assert f'"messages": {conversation.path()[:count]}' in answer["HX-Trigger"]
    page = ask("conversation").text
    assert page.count('data-status="forgotten"') == count
    assert "Rex" not in page.partition('role="log"')[2].partition("</main>")[0]


def test_a_refused_forgetting_says_why_in_the_dialog(ask, conversation, monkeypatch):
    def refuse(*_, **__):
        raise RefusedPost("reply_running", "A reply that knows this message is being written.")

    monkeypatch.setattr(remembering, "forget", refuse)
    answer = ask("forget_message", conversation.path()[0], method="post")
    assert answer.status_code == 422
    assert "is being written" in answer.text


@pytest.mark.parametrize("name", ["pin_message", "forget_message", "sent_message", "edit_summary", "restore_summary"])
def test_what_is_in_another_conversation_is_not_found(ask, alice, name, model):
    other = converse(alice, "Elsewhere", "Yes")
    there = other.conversation.summaries.create(covers_until=other, text="Elsewhere", author="extract")
    method = "get" if name == "sent_message" else "post"
    for number in (there.pk + 1 if "summary" in name else other.pk, 0, 10**30):
        assert ask(name, number, method=method).status_code == 404


def test_what_was_sent_is_shown_part_by_part(ask, conversation, summary):
    path = conversation.path()
    parts = [["system", 9, [], None], ["summary", 1012, path[:2], summary.pk], ["message", 7, [path[2]], None]]
    sampling = {"temperature": 0.7, "top_k": 40}
    sent = {"parts": parts, "prompt_tokens": 1028, "context": 2048, "sampling": sampling, "model": "Fake"}
    conversation.messages.filter(pk=path[3]).update(sent=sent, model="Fake")
    shown = words(ask("sent_message", path[3]))
    for text in (
        "1,028 of 2,048 tokens",
        "Summary of what was said before 1,012 tokens",
        "Be kind.",
        "Top k 40",
        "He is 5.",
    ):
        assert text in shown, text
    assert f"Version {summary.pk}: The model" in shown
    assert "<title>" in ask("sent_message", path[3], headers={}).text


def test_of_what_was_forgotten_since_only_the_place_is_shown(ask, conversation, summary):
    path = conversation.path()
    parts = [["summary", 12, path[:2], summary.pk], ["message", 7, [path[2]], None]]
    conversation.messages.filter(pk=path[3]).update(sent={"parts": parts, "context": 640})
    ask("forget_message", path[0], method="post")
    shown = words(ask("sent_message", path[3]))
    assert "This version has been deleted since" in shown
    assert "This message was forgotten." in shown
    assert "Rex" not in shown


def test_a_reply_without_a_record_says_so(ask, conversation):
    assert "Nothing is recorded" in ask("sent_message", conversation.head_id).text


def test_a_version_that_kept_little_is_shown_as_it_is(ask, conversation, summary, model):
    grown = "He is 5 years old, lives in Bern and likes fish."
    conversation.summaries.create(
        covers_until=conversation.branch()[1], text=grown, author="extract", grown_from=summary
    )
    text = ask("memory").text
    assert grown in text
    assert "<del>" not in text
