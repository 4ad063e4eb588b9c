// Brings a message into sight, wherever in the conversation it stands.

/** @param {HTMLElement} list that holds the articles  @returns whether the message is on the branch that is shown */
export async function reveal(list, id) {
  const article = await find(list, id);
  if (!article) return false;
  article.tabIndex = -1;
  article.addEventListener("blur", () => article.removeAttribute("tabindex"), { once: true });
  article.scrollIntoView({ block: "center" });
  article.focus({ preventScroll: true });
  return true;
}

/** Older messages are loaded until it is there. */
async function find(list, id) {
  const article = list.querySelector(`#message-${id}`);
  const earlier = list.querySelector(".earlier");
  if (article || !earlier) return article;
  const answered = new Promise((done) => document.body.addEventListener("htmx:afterRequest", done, { once: true }));
  earlier.click();
  await answered;
  return earlier.isConnected ? null : find(list, id); // Still there: they could not be loaded.
}
