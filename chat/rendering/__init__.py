"""Markdown of a reply to safe HTML, whole (`render`) or while it is being written (`RenderedStream`)."""

from chat.rendering.blocks import render
from chat.rendering.stream import Patch, RenderedStream

__all__ = ["Patch", "RenderedStream", "render"]
