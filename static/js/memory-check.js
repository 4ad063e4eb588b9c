// The panel's memory check: looks how far the run is, until it is done.

const EVERY_MS = 3000;

class MemoryCheck {
  #place;
  #announcer = document.getElementById("check-announcer");

  constructor(place) {
    this.#place = place;
    this.#lookLater();
  }

  get #isRunning() {
    return "running" in this.#place.dataset;
  }

  #lookLater() {
    if (this.#isRunning) setTimeout(() => this.#look(), EVERY_MS);
  }

  async #look() {
    try {
      const answer = await fetch(location.href);
      const page = new DOMParser().parseFromString(await answer.text(), "text/html");
      const fresh = page.getElementById(this.#place.id);
      if (!fresh) {
        location.reload(); // logged out meanwhile
        return;
      }
      if ("running" in fresh.dataset) this.#advance(fresh);
      else this.#end(fresh);
    } catch {
      // the server is away for a moment: look again
    }
    this.#lookLater();
  }

  // What has the focus stays, and a screen reader is not told of every per cent.
  #advance(fresh) {
    this.#part("bar").value = fresh.querySelector("#check-bar").value;
    this.#part("words").textContent = fresh.querySelector("#check-words").textContent.trim();
    this.#part("stop").disabled = fresh.querySelector("#check-stop").disabled;
  }

  #end(fresh) {
    const hadFocus = this.#place.contains(document.activeElement);
    this.#place.replaceWith(fresh);
    this.#place = fresh;
    const ended = this.#part("ended");
    this.#announcer.textContent = ended.textContent.trim() || "The check is done";
    if (hadFocus) ended.focus();
  }

  #part(name) {
    return this.#place.querySelector(`#check-${name}`);
  }
}

new MemoryCheck(document.getElementById("memory-check"));
