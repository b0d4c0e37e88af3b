# SPDX-License-Identifier: Apache-2.0
"""Reads what runs of Weft leave on disk: settings, events, numbers, checkpoints as arrays.

Files are only read, and only when they are asked for; a run may go on meanwhile.
"""
from .array import Array
from .checkpoint import Checkpoint
from .errors import WeftError
from .events import Events
from .metrics import Metrics, Series
from .run import Listed, Run, Summary, runs

__all__ = ["Array", "Checkpoint", "Events", "Listed", "Metrics", "Run", "Series", "Summary",
           "WeftError", "runs"]
