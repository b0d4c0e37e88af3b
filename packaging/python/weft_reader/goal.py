# SPDX-License-Identifier: Apache-2.0
"""Which state of a run is the best, and why checkpoints are kept: by the rules of the run."""
import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """What is best is best by: checkpoint.metric and checkpoint.mode."""

    metric: str = "validation/loss"
    smaller_is_better: bool = True

    @staticmethod
    def of(config):
        """That of a run's configuration."""
        section = _section(config)
        return Goal(section.get("metric", Goal.metric), section.get("mode") != "max")

    def rank(self, metrics, step):
        """A key that is smallest for the best state; None where the metric is not there.

        Of equal values the lower loss of the same split counts, then the later step.
        """
        value = metrics.get(self.metric)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return None
        loss = metrics.get(self.metric[:self.metric.rfind("/") + 1] + "loss")
        known = isinstance(loss, (int, float)) and not math.isnan(loss)
        return (value if self.smaller_is_better else -value, loss if known else math.inf, -step)


def best_first(goal, records):
    """Steps of the checkpoints that were evaluated at their own step. `records`: of manifests."""
    ranks = {one["step"]: goal.rank(one["metrics"], one["step"]) for one in records
             if one["metric_step"] == one["step"]}
    return sorted((step for step, rank in ranks.items() if rank is not None), key=ranks.get)


def kept_for(records):
    """Reasons by step: "newest", "best", "every N", "by hand". `records` in the order of steps."""
    if not records:
        return {}
    config = records[-1]["config"]
    section = _section(config)
    newest = [one["step"] for one in records[-max(1, section.get("keep_latest", 2)):]]
    best = best_first(Goal.of(config), records)[:max(0, section.get("keep_best", 3))]
    every = section.get("keep_every") or 0
    return {one["step"]: tuple(reason for reason, holds in (
        ("newest", one["step"] in newest),
        ("best", one["step"] in best),
        (f"every {every}", every > 0 and one["step"] % every == 0),
        ("by hand", "by hand" in one["kept_for"])) if holds) for one in records}


def _section(config):
    section = config.get("checkpoint")
    return section if isinstance(section, dict) else {}
