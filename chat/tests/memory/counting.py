"""A token counter without a model, and histories for property tests."""

from hypothesis import strategies as st
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage

from chat.memory.prompt import Layout


def count(messages):
    """Words and four tokens a message, as a chat template would have them, and three for the reply's beginning."""
    return 3 + sum(4 + len(message.text.split()) for message in messages)


def count_together(messages):
    """Like a tokenizer across borders: the whole is not the sum of its parts."""
    return 3 + sum(4 + len(message.text) for message in messages) // 5


def talk(*texts, first_id=1):
    """Messages by turns of person and assistant, with ids as rows have them."""
    kinds = (HumanMessage, AIMessage)
    return tuple(kinds[at % 2](text, id=str(first_id + at)) for at, text in enumerate(texts))


def layout_of(turns, message="And now?", system="Be kind.", notes=None):
    """A layout for the turns and a new message after them."""
    return Layout(
        message=HumanMessage(message, id=str(len(turns) + 1000)),
        system=(SystemMessage(system),) if system else (),
        notes=notes,
        turns=tuple(turns),
    )


_WORDS = st.sampled_from(["Rex", "my", "dog", "is", "called", "42", "I", "live", "in", "Paris.", "猫です。", "\n"])
texts = st.lists(_WORDS, min_size=1, max_size=60).map(" ".join).filter(str.strip)


@st.composite
def histories(draw, max_turns=30):
    """Turns that begin with a person; a reply may be missing, as after a failure."""
    turns = []
    for text in draw(st.lists(texts, max_size=max_turns)):
        turns.append(HumanMessage(text, id=str(len(turns) + 1)))
        if draw(st.booleans()) or draw(st.booleans()):
            turns.append(AIMessage(draw(texts), id=str(len(turns) + 1)))
    return tuple(turns)
