// What has arrived of a reply that is being written, whether or not the page shows it at the moment.

export class Growth {
  seq = 0;
  text = "";
  reasoning = "";
  closed = "";
  open = "";

  /** Take a `reply.delta`. Parts that came before change nothing. Returns whether it was new. */
  add({ seq, text, reasoning, closed, open }) {
    if (seq <= this.seq) return false;
    this.seq = seq;
    this.text += text ?? "";
    this.reasoning += reasoning ?? "";
    this.closed += closed ?? "";
    this.open = open ?? "";
    return true;
  }
}
