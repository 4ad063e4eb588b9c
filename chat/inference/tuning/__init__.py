"""Fits a model to the machine: measures weight formats and settings, and keeps what is best beside the original.

`work` measures (and needs llama_cpp and numpy); what is here finds and applies what was kept.
"""

from chat.inference.tuning.applying import tuned
from chat.inference.tuning.keeping import NotUsable, Tuning, decline, find, remove
from chat.inference.tuning.machine import Machine, this_machine

__all__ = ["Machine", "NotUsable", "Tuning", "decline", "find", "remove", "this_machine", "tuned"]
