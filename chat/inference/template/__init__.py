"""Turns messages into prompt segments by the model's own chat template, out of reach of what the messages say."""

from chat.inference.template.chat import ChatTemplate
from chat.inference.template.contents import Segment
from chat.inference.template.sandbox import TemplateError

__all__ = ["ChatTemplate", "Segment", "TemplateError"]
