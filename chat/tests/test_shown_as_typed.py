"""What a person pastes is stored, prompted and shown byte for byte as it was typed (case 19)."""

import html
import re
import uuid

import pytest

from chat import services
from chat.database import in_database
from chat.models import Message
from chat.replies import Ended

pytestmark = pytest.mark.django_db(transaction=True)

PASTED = "def f():\n\tsnake_case_name = *.py\n\n    return $a + $b  \n"
HOSTILE = "<img src=x onerror=alert(1)> **not bold** <b>&amp;</b> [x](javascript:alert(1))"


@pytest.mark.parametrize("typed", [PASTED, HOSTILE])
async def test_the_same_bytes_everywhere(typed, conversation, as_alice, model, remembered):
    sent = await services.send_message(
        conversation.pk, conversation.owner_id, client_id=uuid.uuid4(), parent=None, text=typed
    )
    async for event in services.follow_reply(conversation.pk, sent.reply["id"]):
        if isinstance(event, Ended):
            break
    stored = await in_database(Message.objects.get, pk=sent.message["id"])
    assert stored.text == sent.message["text"] == typed
    assert model.asked[0]["messages"][-1].content == typed
    page = (await as_alice.get(f"/conversations/{conversation.pk}/")).content.decode()
    article = re.search(r'<article[^>]*data-role="user".*?</article>', page, re.DOTALL)[0]
    assert html.escape(typed).replace("&#x27;", "&#39;") in article
    assert "<img" not in article
    assert "<b>" not in article
