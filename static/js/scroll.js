// Keeps the newest in sight while the person is at the end, and leaves the page alone while he reads further up.

const NEAR_PX = 48;

export class Scroll {
  #log;
  #content;
  #jump;
  #isFollowing = true;
  #lastTop = 0;

  /** @param {HTMLElement} log that scrolls  @param {HTMLElement} content in it  @param {HTMLElement} jump button */
  constructor(log, content, jump) {
    this.#log = log;
    this.#content = content;
    this.#jump = jump;
    log.addEventListener("scroll", () => this.#scrolled(), { passive: true });
    jump.addEventListener("click", () => this.toEnd());
    const watch = new ResizeObserver(() => this.#resized());
    watch.observe(content);
    watch.observe(log);
    content.addEventListener("htmx:beforeSwap", () => this.#keepPlace());
    this.toEnd();
  }

  toEnd() {
    this.#isFollowing = true;
    this.#resized();
  }

  #resized() {
    if (this.#isFollowing) this.#log.scrollTop = this.#log.scrollHeight;
    this.#show();
  }

  #scrolled() {
    const { scrollTop } = this.#log;
    // Only a move upwards ends following: growth alone also puts the end out of sight for a moment.
    if (this.#isNearEnd()) this.#isFollowing = true;
    else if (scrollTop < this.#lastTop) this.#isFollowing = false;
    this.#lastTop = scrollTop;
    this.#show();
  }

  #isNearEnd() {
    const { scrollHeight, scrollTop, clientHeight } = this.#log;
    return scrollHeight - scrollTop - clientHeight < NEAR_PX;
  }

  #show() {
    this.#jump.hidden = this.#isFollowing || this.#isNearEnd();
  }

  /** Earlier messages come in above: what is being read stays where it is. */
  #keepPlace() {
    const fromEnd = this.#log.scrollHeight - this.#log.scrollTop;
    const restore = () => (this.#log.scrollTop = this.#log.scrollHeight - fromEnd);
    this.#content.addEventListener("htmx:afterSwap", restore, { once: true });
  }
}
