// The line under a reply: what it cost, in words.

const number = new Intl.NumberFormat("en");
const decimal = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** @param {object} usage as in docs/protocol.md  @param {string} model */
export function usageLine(usage, model) {
  return [tokensRead(usage), firstToken(usage), speed(usage), model].filter(Boolean).join(" · ");
}

function tokensRead({ prompt_tokens: prompt, cached_tokens: cached }) {
  if (!prompt) return "";
  const read = `${number.format(prompt - (cached ?? 0))} tokens read`;
  return cached ? `${read}, ${number.format(cached)} reused` : read;
}

function firstToken({ first_token_ms: first }) {
  return first == null ? "" : `first token after ${decimal.format(first / 1000)} s`;
}

function speed({ completion_tokens: written, first_token_ms: first, total_ms: total }) {
  const seconds = (total - first) / 1000;
  // The first token came at the beginning of that time, so it does not count.
  return written > 1 && seconds > 0 ? `${decimal.format((written - 1) / seconds)} tokens/s` : "";
}
