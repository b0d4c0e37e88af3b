# SPDX-License-Identifier: Apache-2.0
"""A run's folder: what it is, what happened, its numbers and its checkpoints."""
import json
import os
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Optional

from .checkpoint import Checkpoint
from .errors import WeftError
from .events import Events
from .goal import Goal, best_first, kept_for
from .lock import is_live
from .manifest import NAME, another_step, folder_name, read_manifest_of_any_step, step_of
from .metrics import Metrics

_ENDED = ("finished", "stopped", "failed")
# What no resume takes, by the beginning of the folder's name.
_NOT_TAKEN = {".tmp-": "incomplete: a save that was interrupted; the next save removes it",
              "unusable-": "set aside: it could not be used"}


@dataclass(frozen=True)
class Summary:
    """One line about a run, as `weft runs list` has it."""

    state: str  # of `weft help events`; "interrupted" where nobody trains what has not ended
    step: int  # updates so far
    total_steps: int  # planned; 0: its length is measured in minutes
    loss: Optional[float]  # of the last update; None before the first
    best_metric: str
    best_value: Optional[float]  # of the best evaluation; None before the first
    best_step: int  # -1 before the first
    seconds: float  # spent training, in sessions that have ended


@dataclass(frozen=True)
class Listed:
    """A folder in checkpoints/: one that can be used, or why it cannot."""

    folder: Path
    step: int  # -1: not known
    problem: str  # empty: it can be used
    kept_for: tuple = ()  # "newest", "best", "every N", "by hand"
    is_best: bool = False  # of all of the run

    @property
    def is_newest(self):
        """Among the newest, which the rules of the run keep."""
        return "newest" in self.kept_for

    @property
    def is_pinned(self):
        """Kept by hand."""
        return "by hand" in self.kept_for


class Run:
    """The folder of a run. Raises WeftError where it is none. Files are read when asked for."""

    def __init__(self, folder):
        self.folder = Path(folder)
        if not _is_run(self.folder):
            raise WeftError(self.folder, "there is no run here: neither run.json nor events.jsonl",
                            "Name the folder of a run, or see what runs() finds.")

    def __repr__(self):
        return f"<weft_reader.Run {str(self.folder)!r}>"

    @property
    def info(self):
        """run.json, read anew each time; its keys: `weft help run-folder`."""
        return self._document("run.json")

    @cached_property
    def config(self):
        """The whole configuration, defaults included; frozen when the run began."""
        return self._document("config.json")

    @cached_property
    def plan(self):
        """The plan that it was started with (`weft help plan`)."""
        return self._document("plan.json")

    @property
    def annotations(self):
        """What people noted: {"tags": [...], "notes": "...", "archived": bool}."""
        out = {key: self.config[key] for key in ("tags", "notes") if key in self.config}
        if (self.folder / "annotations.json").exists():
            out.update(self._document("annotations.json"))
        return {"tags": out.get("tags", []), "notes": out.get("notes", ""),
                "archived": out.get("archived", False)}

    @property
    def is_live(self):
        """Whether somebody trains it now."""
        return is_live(self.folder)

    @property
    def metrics(self):
        """Series of numbers by name: `Metrics`."""
        return Metrics(self.folder / "metrics")

    def events(self):
        """What happened, from the first event on: `Events`."""
        return Events(self.folder / "events.jsonl")

    def summary(self):
        """Reads all events: `Summary`."""
        info = self.info
        goal = Goal.of(self.config)
        state, total, seconds = info["state"], info["total_steps"], info["seconds"]
        step, loss = max(0, (info.get("parent") or {}).get("step", 0)), None
        best = None
        for event in self.events():
            kind = event["event"]
            if kind == "step":
                step, loss = event["step"], event["loss"]
            elif kind == "state":
                state, total = event["state"], event.get("total_steps") or total
            elif kind == "evaluation":
                rank = goal.rank(event["metrics"], event["step"])
                if rank is not None and (best is None or rank < best[0]):
                    best = (rank, event["metrics"][goal.metric], event["step"])
            elif kind == "finished":
                seconds = max(seconds, event["seconds"])
        if state not in _ENDED and not self.is_live:
            state = "interrupted"
        return Summary(state, step, total, loss, goal.metric, best[1] if best else None,
                       best[2] if best else -1, seconds)

    def checkpoints(self):
        """Every folder in checkpoints/, in the order of steps: `Listed`. Reads manifests."""
        entries = [_looked_into(path) for path in self._checkpoint_folders()]
        # Copies under other names are somebody's own: no rule counts them.
        ruled = {entry.folder: record for entry, record in entries
                 if not entry.problem and entry.folder.name == folder_name(entry.step)}
        records = sorted(ruled.values(), key=lambda record: record["step"])
        reasons = kept_for(records)
        best = best_first(Goal.of(records[-1]["config"]), records)[:1] if records else []
        out = [replace(entry, kept_for=reasons[entry.step], is_best=entry.step in best)
               if entry.folder in ruled else entry for entry, _ in entries]
        return sorted(out, key=lambda entry: (entry.step, entry.folder))

    def checkpoint(self, which="latest", **how):
        """A `Checkpoint`: "latest", "best" or a step; `how` as Checkpoint takes it.

        Raises WeftError where there is none.
        """
        listed = [entry for entry in self.checkpoints() if not entry.problem]
        if which == "latest":
            found = listed[-1:]
        elif which == "best":
            found = [entry for entry in listed if entry.is_best]
        else:
            found = [entry for entry in listed if entry.step == which]
        if not found:
            steps = ", ".join(f"{entry.step}" for entry in listed) or "none"
            raise WeftError(self.folder / "checkpoints", f"there is no checkpoint {which!r} that "
                            "can be used", f"Steps with one: {steps}.")
        return Checkpoint(found[0].folder, **how)

    def _checkpoint_folders(self):
        folder = self.folder / "checkpoints"
        if not folder.is_dir():
            return []
        return [path for path in folder.iterdir() if path.is_dir()
                and (not path.name.startswith(".") or path.name.startswith(".tmp-step-"))]

    def _document(self, name):
        path = self.folder / name
        try:
            value = json.loads(path.read_bytes())
        except OSError as fault:
            raise WeftError(path, f"cannot be read: {fault.strerror}") from None
        except ValueError as fault:
            raise WeftError(path, f"is not JSON: {fault}") from None
        if not isinstance(value, dict):
            raise WeftError(path, "is not a JSON object")
        return value


def _looked_into(path):
    """The entry of a folder, and its record where that can be read."""
    for prefix, problem in _NOT_TAKEN.items():
        if path.name.startswith(prefix):
            step = step_of(path.name[len(prefix):])
            return Listed(path, -1 if step is None else step, problem), None
    step = step_of(path.name)
    if step is None and not (path / NAME).exists():
        return Listed(path, -1, f"not a checkpoint: the folder has no {NAME}"), None
    try:
        manifest = read_manifest_of_any_step(path)
    except WeftError as fault:
        return Listed(path, -1 if step is None else step, str(fault)), None
    record = manifest.record
    return Listed(path, record["step"], another_step(manifest)), record


def runs(root=None):
    """The runs directly in a folder, newest first: a list of `Run`.

    Without `root`: in $WEFT_RUNS, or ~/WeftRuns.
    """
    root = Path(root or os.environ.get("WEFT_RUNS") or Path.home() / "WeftRuns")
    found = [Run(path) for path in (root.iterdir() if root.is_dir() else ()) if _is_run(path)]
    return sorted(found, key=lambda run: (_written(run.folder), run.folder), reverse=True)


def _is_run(folder):
    return (folder / "run.json").is_file() or (folder / "events.jsonl").is_file()


def _written(folder):
    files = [folder / name for name in ("run.json", "events.jsonl")]
    return max(file.stat().st_mtime for file in files if file.exists())
