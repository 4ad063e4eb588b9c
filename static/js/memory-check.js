// The panel's memory check: looks how far the run is, until it is done.

const EVERY_MS = 3000;

class MemoryCheck {
  #place;

  constructor(place) {
    this.#place = place;
    this.#lookLater();
  }

  #lookLater() {
    if ("running" in this.#place.dataset) {
      setTimeout(() => this.#look(), EVERY_MS);
    }
  }

  async #look() {
    try {
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const place = page.getElementById(this.#place.id);
      if (!place) {
        location.reload(); // logged out meanwhile
        return;
      }
      this.#place.replaceWith(place);
      this.#place = place;
    } catch {
      // the server is away for a moment: look again
    }
    this.#lookLater();
  }
}

new MemoryCheck(document.getElementById("memory-check"));
