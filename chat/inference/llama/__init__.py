"""The model itself, through llama.cpp. The only package that imports llama_cpp."""

from chat.inference.llama.runner import LlamaRunner

__all__ = ["LlamaRunner"]
