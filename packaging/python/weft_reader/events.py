# SPDX-License-Identifier: Apache-2.0
"""events.jsonl of a run, whole or as it grows."""
import json
import math
from pathlib import Path

_NUMBERS = {"nan": math.nan, "inf": math.inf, "-inf": -math.inf}
# These hold nothing but numbers beside their own name; elsewhere "nan" may be somebody's word.
_OF_NUMBERS = {"step", "evaluation", "finished"}


class Events:
    """Iterates over the events so far, as dicts; iterated again, over those that came since.

    A last half line is left for the next time: the run may be writing it. Whole lines that are no
    event are counted in `damaged_lines` and left out. Which events and keys there are:
    `weft help events`.
    """

    def __init__(self, path):
        self._path = Path(path)
        self._offset = 0
        self.damaged_lines = 0

    def __iter__(self):
        if not self._path.exists():
            return
        with open(self._path, "rb") as file:
            file.seek(self._offset)
            for line in file:
                if not line.endswith(b"\n"):
                    return
                self._offset += len(line)
                event = _event(line)
                if event is None:
                    self.damaged_lines += 1
                else:
                    yield event


def _event(line):
    try:
        event = json.loads(line)
    except ValueError:
        return None
    if not isinstance(event, dict) or not isinstance(event.get("event"), str):
        return None
    return _with_numbers(event) if event["event"] in _OF_NUMBERS else event


def _with_numbers(value):
    """Numbers that are not finite are texts in JSON."""
    if isinstance(value, dict):
        return {key: _with_numbers(one) for key, one in value.items()}
    return _NUMBERS.get(value, value) if isinstance(value, str) else value
