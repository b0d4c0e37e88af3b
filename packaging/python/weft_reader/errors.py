# SPDX-License-Identifier: Apache-2.0
"""What is raised where files cannot be read or are not what they should be."""

USE_ANOTHER = "Use another checkpoint of this run (`weft checkpoint list`)."


class WeftError(Exception):
    """Names the file (`where`), what is wrong with it (`text`) and what to do (`hint`)."""

    def __init__(self, where, text, hint=""):
        self.where = str(where)
        self.text = text
        self.hint = hint
        super().__init__(f"{self.where}: {text}." + (f" {hint}" if hint else ""))
