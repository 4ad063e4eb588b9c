"""The record of looks tells who read whose conversation, when and why, but not what it said."""

import pytest

from accounts.tests.people import administrator
from chat.models import Conversation, Look

LIST = "/admin/chat/look/"


@pytest.fixture
def look(alice, owner):
    conversation = Conversation.objects.create(owner=alice, title="SECRET title")
    return Look.objects.create(conversation=conversation, reader=owner, reason="The court asks")


def test_administrators_see_who_whose_and_why(client, look):
    client.force_login(administrator())
    for path in (LIST, f"{LIST}{look.pk}/change/"):
        page = client.get(path).content.decode()
        for told in ("olivia", "alice", "The court asks"):
            assert told in page
        assert "SECRET" not in page


def test_it_can_be_filtered_by_reader_and_date_and_searched(client, look, owner, alice):
    client.force_login(owner)
    for query, count in [
        ({"reader": owner.pk}, 1),
        ({"reader": alice.pk}, 0),
        ({"q": "court"}, 1),
        ({"at__gte": "2000-01-01 00:00:00+00:00", "at__lt": "2001-01-01 00:00:00+00:00"}, 0),
    ]:
        assert client.get(LIST, query).context["cl"].result_count == count, query
    assert client.get(LIST, {"conversation__title__startswith": "S"}).status_code == 400


def test_a_look_outlives_its_reader(client, look, owner):
    client.force_login(administrator())
    owner.delete()
    assert "A person since deleted" in client.get(LIST).content.decode()
