// What is written but not yet acknowledged, kept per conversation over reloads.

const PREFIX = "draft:";

/** Fields of what is kept: `text`, and once it was sent `client_id` and `parent`. */
export class Draft {
  #key;

  constructor(conversation) {
    this.#key = PREFIX + conversation;
  }

  load() {
    try {
      return JSON.parse(localStorage.getItem(this.#key)) ?? { text: "" };
    } catch {
      return { text: "" };
    }
  }

  save(content) {
    try {
      if (content.text) localStorage.setItem(this.#key, JSON.stringify(content));
      else localStorage.removeItem(this.#key);
    } catch {
      // Storage is full or forbidden: the text is still in the box.
    }
  }
}

/** Leave nothing behind for the next person at this machine. */
export function forgetDrafts() {
  for (const key of Object.keys(localStorage)) if (key.startsWith(PREFIX)) localStorage.removeItem(key);
}
