"""Short templates that treat messages as the model families' own do, with the tokens that their files name."""

from pathlib import Path

from chat.inference.template import ChatTemplate

TOKENS = {
    "smollm2": ("<|im_start|>", "<|im_end|>"),
    "qwen3": ("", "<|im_end|>"),
    "qwen35": ("", "<|im_end|>"),
    "llama3": ("<|begin_of_text|>", "<|eot_id|>"),
    "gemma2": ("<bos>", "<eos>"),
    "gemma3": ("<bos>", "<end_of_turn>"),
    "gemma4": ("<bos>", "<turn|>"),
    "phi3": ("<s>", "<|endoftext|>"),
    "phi4mini": ("<|endoftext|>", "<|endoftext|>"),
    "granite3": ("<|end_of_text|>", "<|end_of_text|>"),
    "granite4": ("<|end_of_text|>", "<|end_of_text|>"),
    "smollm3": ("", "<|im_end|>"),
    "lfm2": ("<|startoftext|>", "<|im_end|>"),
    "ministral": ("<s>", "</s>"),
    "deepseek_distill": ("<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>"),
}
FAMILIES = sorted(TOKENS)


def source(family):
    return (Path(__file__).parent / f"{family}.jinja").read_text(encoding="utf-8")


def load(family):
    bos, eos = TOKENS[family]
    return ChatTemplate(source(family), bos=bos, eos=eos)


def talk(*turns):
    """Messages from words like "user: hello"."""
    return [dict(zip(("role", "content"), turn.split(": ", 1), strict=True)) for turn in turns]


def text(segments):
    return "".join(segment.text for segment in segments)
