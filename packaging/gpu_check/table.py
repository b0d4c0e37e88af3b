# SPDX-License-Identifier: Apache-2.0
"""What was found, as a table for people and as JSON, written after each part: a call that is cut off loses
the part that it was at."""
import json


class Results:
    def __init__(self, folder):
        self._json = folder / "gpu-check.json"
        self._text = folder / "gpu-check.md"
        self.parts = {}  # by name: {"done", "rows", "next"}
        if self._json.exists():
            self.parts = json.loads(self._json.read_text())["parts"]

    def is_done(self, name):
        return self.parts.get(name, {}).get("done", False)

    def place(self, name):
        """Where a part that was interrupted goes on."""
        return self.parts.get(name, {}).get("next", 0)

    def rows(self, name):
        return self.parts.get(name, {}).get("rows", [])

    def keep(self, name, rows, done=True, next_place=0):
        self.parts[name] = {"done": done, "rows": rows, "next": next_place}
        draft = self._json.with_suffix(".part")
        draft.write_text(json.dumps({"parts": self.parts}, indent=2) + "\n")
        draft.replace(self._json)
        self._text.write_text(self.as_text())

    def all_right(self):
        return all(row["right"] is not False for part in self.parts.values() for row in part["rows"])

    def as_text(self):
        lines = ["# Weft on a GPU", "", "| Part | What | Figure | Right |", "| --- | --- | --- | --- |"]
        for name, part in self.parts.items():
            for row in part["rows"]:
                right = {True: "yes", False: "**no**", None: ""}[row["right"]]
                cells = [name, row["what"], row["figure"], right]
                lines.append("| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in cells) + " |")
            if not part["done"]:
                lines.append(f"| {name} | goes on with the next call | | |")
        return "\n".join(lines) + "\n"


def row(what, figure, right=None):
    """`right` None: a figure without a verdict."""
    return {"what": what, "figure": figure, "right": right}
