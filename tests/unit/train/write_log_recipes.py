# SPDX-License-Identifier: Apache-2.0
"""Runs the recipes of `weft help logging` as they stand and keeps what they wrote, with the lines.

    python3 write_log_recipes.py PATH_OF_WEFT    # needs torch, tensorboard and tensorboardX
"""
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import time

import torch
from tensorboard.backend.event_processing.event_file_loader import EventFileLoader

HERE = pathlib.Path(__file__).parent


def recipes(weft):
    page = subprocess.run([weft, "help", "logging"], check=True, capture_output=True, text=True).stdout
    for section in page.split("\n## ")[1:]:
        name = section.split("\n", 1)[0]
        lines = re.findall(r"^\| `(.*)` \|", section, re.MULTILINE)
        yield name, lines


def values(folder):
    """What TensorBoard's own reader finds by now."""
    found = []
    for path in folder.rglob("events.out.tfevents.*"):
        for event in EventFileLoader(str(path)).Load():
            found += [value.tensor.float_val[0] for value in event.summary.value]
    return found


def main():
    weft = os.path.abspath(sys.argv[1])
    kept = []
    for name, (once, each) in recipes(weft):
        folder = pathlib.Path(tempfile.mkdtemp())
        os.chdir(folder)
        scope = {}
        exec(once, scope)
        losses = [1.5, 0.75, 0.25]
        for step, loss in enumerate(losses, 1):
            scope.update(loss=torch.tensor(loss), step=step)
            exec(each, scope)
        # Nothing is closed or flushed: the file as it is while the loop goes on.
        begin = time.time()
        while (seen := values(folder)) != losses:
            if time.time() - begin > 10:
                sys.exit(f"{name}: after 10 s the file holds {seen}")
            time.sleep(0.1)
        print(f"{name}: written {time.time() - begin:.1f} s after the last step")
        file, = folder.rglob("events.out.tfevents.*")
        place = f"log_recipe_{name.lower()}.tfevents"
        (HERE / place).write_bytes(file.read_bytes())
        kept.append({"program": name, "once": once, "each": each, "file": place,
                     "losses": losses})
    (HERE / "log_recipes.json").write_text(json.dumps(kept, indent=1) + "\n")


if __name__ == "__main__":
    main()
