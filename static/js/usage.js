// The line under a reply: what it cost, in words.

const number = new Intl.NumberFormat("en");
const decimal = new Intl.NumberFormat("en", { maximumFractionDigits: 1 });

/** @param {object} usage as in docs/protocol.md  @param {string} model */
export function usageLine(usage, model) {
  return [tokensRead(usage), reused(usage), waited(usage), firstToken(usage), speed(usage), model].filter(Boolean).join(" · ");
}

// Replies of earlier versions do not say what was read; then it was all that was not reused.
function tokensRead({ prompt_tokens: prompt, cached_tokens: cached, read_tokens: count, read_per_second: rate }) {
  if (!prompt || count === 0) return "";
  const read = `${number.format(count ?? prompt - (cached ?? 0))} tokens read`;
  return rate ? `${read} at ${decimal.format(rate)}/s` : read;
}

function reused({ cached_tokens: cached, restored_tokens: restored }) {
  if (!cached) return "";
  return `${number.format(cached)} reused${restored ? ` (${number.format(restored)} restored)` : ""}`;
}

// What nobody notices is not worth a place in the line.
function waited({ queued_ms: queued }) {
  return queued >= 100 ? `waited ${decimal.format(queued / 1000)} s` : "";
}

function firstToken({ first_token_ms: first }) {
  return first == null ? "" : `first token after ${decimal.format(first / 1000)} s`;
}

function speed({ completion_tokens: written, first_token_ms: first, total_ms: total, written_per_second: rate }) {
  if (rate) return `${decimal.format(rate)} tokens/s`;
  if (first == null) return "";
  const seconds = (total - first) / 1000;
  // The first token came at the beginning of that time, so it does not count.
  return written > 1 && seconds > 0 ? `${decimal.format((written - 1) / seconds)} tokens/s` : "";
}
