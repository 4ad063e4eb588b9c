"""Old conversations, and what is recalled of them."""

from chat.tests.memory.fakes import converse, long_talk


def old_talk(owner, *texts, **where):
    """A conversation that begins with these texts and has gone on for long; its summary says nothing of them."""
    early = converse(owner, *texts, **where)
    last = long_talk(owner, after=early, conversation=early.conversation)
    early.conversation.summaries.create(covers_until=last, text="User: Stories were told.", author="extract")
    return last


def recalled(prompt):
    """The lines of the recalled passages without quotation marks and dates; none when nothing is recalled."""
    if "recalled" not in [part.kind for part in prompt.parts]:
        return []
    lines = [line.removeprefix("> ") for line in prompt.messages[-2].text.splitlines()[1:]]
    return [line.partition(" ")[2] if line[:2] == "20" else line for line in lines]
