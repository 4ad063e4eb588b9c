"""A person makes an API key with the keyboard, copies it, and it is gone when the page is loaded again."""

import re

import pytest
from playwright.sync_api import expect

from accounts.keys import ApiKey, authenticate


@pytest.fixture
def keys_page(open_page, page, context, live_server):
    """The page of Alice's keys."""
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    open_page()
    page.goto(f"{live_server.url}/account/")
    page.get_by_role("link", name="API keys").click()
    return page


def make(page, name):
    page.get_by_label("Name", exact=True).fill(name)
    page.get_by_label("Name", exact=True).press("Enter")
    return page.get_by_label(f"Your new key “{name}”")


def test_a_key_is_made_copied_and_not_shown_again(keys_page, alice):
    box = make(keys_page, "Editor")
    keys_page.get_by_role("button", name="Copy").press("Enter")
    expect(keys_page.get_by_role("button", name="Copied")).to_be_visible()
    key = keys_page.evaluate("navigator.clipboard.readText()")
    expect(box).to_have_value(key)
    assert authenticate(key, "10.0.0.1") == alice
    keys_page.reload()
    expect(keys_page.get_by_role("heading", name="API keys")).to_be_visible()
    expect(box).to_have_count(0)
    assert ApiKey.objects.count() == 1


def test_revoking_is_asked_and_told(keys_page, alice):
    ApiKey.issue(alice, "Old script")
    keys_page.reload()
    keys_page.get_by_role("link", name="Revoke “Old script”").click()
    keys_page.get_by_role("button", name="Revoke").click()
    expect(keys_page.get_by_role("status")).to_have_text("“Old script” is revoked.")
    expect(keys_page.get_by_text(re.compile("Revoked on"))).to_be_visible()


def test_it_fits_a_phone(keys_page, alice):
    keys_page.set_viewport_size({"width": 360, "height": 740})
    ApiKey.issue(alice, "x" * 100)
    expect(make(keys_page, "A name of several words")).to_be_visible()
    assert keys_page.evaluate("document.documentElement.scrollWidth") <= 360
