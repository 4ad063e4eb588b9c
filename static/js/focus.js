// Where the focus is among the messages, so that it is not lost when they are replaced.

export class Focus {
  #list;
  #place;
  #label;

  constructor(list, place, label) {
    this.#list = list;
    this.#place = place;
    this.#label = label;
  }

  /** The focus in this list, or null if it is elsewhere. */
  static within(list) {
    const article = document.activeElement?.closest("article");
    if (!article || !list.contains(article)) return null;
    return new Focus(list, [...list.children].indexOf(article), document.activeElement.ariaLabel);
  }

  /** To the same button of the message in the same place, else to the list as a whole. */
  restore() {
    const buttons = [...(this.#list.children[this.#place]?.querySelectorAll("button:enabled") ?? [])];
    const button = buttons.find((one) => one.ariaLabel === this.#label);
    (button ?? this.#list.parentElement).focus({ preventScroll: true });
  }
}
