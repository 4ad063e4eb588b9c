"""The page at /docs shows the whole API without any other server and under the site's own rules for scripts."""

import pytest
from playwright.sync_api import expect, sync_playwright

from chat.tests.browser.conftest import CHROMIUM, FLAGS
from chat.tests.server.conftest import data, prepared  # noqa: F401
from chat.tests.server.process import ServerProcess

pytestmark = [pytest.mark.browser, pytest.mark.server]


def test_it_shows_every_address_and_the_console_stays_empty(data):  # noqa: F811
    complaints, asked = [], []
    with ServerProcess(data) as server, sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        page = browser.new_page()
        page.on("console", lambda message: complaints.append(message.text))
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on("request", lambda request: asked.append(request.url))
        page.goto(f"{server.url}/docs")
        expect(page.get_by_text("/v1/chat/completions")).to_be_visible(timeout=30_000)
        page.get_by_text("/v1/chat/completions").click()
        expect(page.get_by_text("Continue a conversation")).to_be_visible()
        expect(page.get_by_role("button", name="Authorize")).to_be_visible()
        browser.close()
    assert complaints == []
    assert all(url.startswith((server.url, "data:", "blob:")) for url in asked), asked
