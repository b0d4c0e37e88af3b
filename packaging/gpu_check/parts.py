# SPDX-License-Identifier: Apache-2.0
"""What is checked and measured, part by part. A part fits into one call and is done whole, but for the case
table, which goes on where it was."""
import dataclasses
import math
import os
import re
import shutil
import statistics
import time
from typing import Callable

from gpu_check import models
from gpu_check.machine import Machine  # noqa: F401: the script takes it from here
from gpu_check.table import row

MINUTE = 60
SPARE_SECONDS = 10  # for what a part does beside its programs


@dataclasses.dataclass
class Part:
    name: str
    minutes: float  # that it takes at most
    run: Callable  # (machine, seconds) -> rows


def run(machine, results, only, minutes):
    """False when the time was up before all was done."""
    end = time.monotonic() + minutes * MINUTE
    for part in ALL:
        if part.name not in only or results.is_done(part.name):
            continue
        left = end - time.monotonic()
        if left < part.minutes * MINUTE:
            return False
        print(f"{part.name} ...", flush=True)
        if part.name == "ops":
            if not run_cases(machine, results, left - MINUTE / 2):
                return False
        else:
            results.keep(part.name, part.run(machine, part.minutes * MINUTE))
    return True


def describe(machine, seconds):
    told, ended = machine.run_json([machine.weft, "doctor", "--json"], seconds)
    if told is None:
        return [row("weft doctor", ended.why(), False)]
    cuda = told["cuda"]
    rows = [row(f"cuda:{number}", f"{gpu['name']}, {gpu['memory_bytes'] / 2**30:.1f} GiB, {gpu['id']}", True)
            for number, gpu in enumerate(cuda["devices"])]
    rows += [row(library["name"], library["version"] or library["missing"]) for library in cuda["libraries"]]
    rows += [row("missing", text, False) for text in cuda["missing"]]
    return rows


def self_test(machine, seconds):
    told, ended = machine.run_json([machine.weft, "doctor", "--self-test", "--json"], seconds)
    if told is None:
        return [row("weft doctor --self-test", ended.why(), False)]
    return [row(test["of"], test["failure"] or f"{test['cases']} cases in {test['seconds']:.1f} s", test["passed"])
            for test in told["self_test"]] or [row("self-test", "there is no GPU", False)]


def run_cases(machine, results, seconds):
    """The case table, from where it was; False when the time was up. A device that fails ends the process:
    the next one goes on behind the case."""
    end = time.monotonic() + seconds
    rows, place = results.rows("ops"), results.place("ops")
    ran = sum(one["counted"] for one in rows if "counted" in one)
    wrong = [one for one in rows if "counted" not in one]
    while True:
        left = end - time.monotonic()
        ended = machine.run([machine.cases, str(machine.module), str(place), "1", f"{max(0.0, left):.0f}"], left + 60)
        lines = [line.rstrip("\n").split("\t") for _, line in ended.lines]
        for fields in lines:
            place, ran = int(fields[0]) + 1, ran + 1
            if len(fields) < 4:
                wrong.append(row(f"case {fields[0]}, {fields[1]}", f"the process died: {ended.why()}", False))
            elif fields[3] != "ok":
                wrong.append(row(f"case {fields[0]}, {fields[1]} by '{fields[2]}'", fields[3], False))
        done = ended.code == 0 or not lines and ended.code != 75
        if done and ended.code != 0:
            wrong.append(row("the case table", ended.why(), False))
        kept = [dict(row("cases against the reference", f"{ran}, of which {len(wrong)} are wrong", not wrong), counted=ran),
                *wrong]
        results.keep("ops", kept, done, place)
        if done or ended.code == 75 or end < time.monotonic():
            return done


def losses_of(events):
    return [event["loss"] for _, event in events if event["event"] == "step"]


def same_training(name, precision, tolerance):
    """The GPU beside the CPU, from the same weights over the same batches."""

    def part(machine, seconds):
        config = models.small(name, precision)
        told = {}
        for devices in ("cpu", "cuda"):
            events, ended = machine.train(config, f"same-{name}-{precision}-{devices}", seconds / 2, "--devices", devices,
                                          "--max-steps", "20")
            if ended.code != 0:
                return [row(f"on {devices}", ended.why(), False)]
            told[devices] = losses_of(events)
        apart = max(abs(a - b) / max(1.0, abs(a)) for a, b in zip(told["cpu"], told["cuda"]))
        right = len(told["cpu"]) == len(told["cuda"]) == 20 and apart <= tolerance
        return [row("20 losses on the GPU and on the CPU", f"differ by at most {apart:.2g}, allowed {tolerance:g}", right)]

    return part


def resume(machine, seconds):
    config = models.small("mlp", "f32")
    every = ["--devices", "cuda", "--set", 'checkpoint.every={"steps":10}']
    _, whole = machine.train(config, "resume-whole", seconds / 3, *every, "--max-steps", "40")
    _, parts = machine.train(config, "resume-parts", seconds / 3, *every, "--max-steps", "17")
    runs = machine.out / "runs"
    again = machine.run([machine.weft, "resume", str(runs / "resume-parts"), "--max-steps", "40"], seconds / 3)
    for ended in (whole, parts, again):
        if ended.code != 0:
            return [row("training", ended.why(), False)]
    folder = "checkpoints/step-00000040"
    same = machine.run([machine.weft, "checkpoint", "diff", str(runs / "resume-whole" / folder),
                        str(runs / "resume-parts" / folder)], MINUTE)
    return [row("40 steps, and 17 with 23 after a resume, bit for bit", "equal" if same.code == 0 else same.why(),
                same.code == 0)]


def sanitizer(tool):
    def part(machine, seconds):
        program = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
        if program is None:
            return [row(f"compute-sanitizer {tool}", "not on this machine")]
        ended = machine.run([program, "--tool", tool, "--error-exitcode", "9", machine.cases, str(machine.module), "0", "29",
                             f"{seconds - SPARE_SECONDS:.0f}"], seconds + MINUTE)
        ran = sum(1 for _, line in ended.lines if line.count("\t") == 3)
        found = re.findall(r"ERROR SUMMARY: (\d+)|RACECHECK SUMMARY: (\d+)", ended.out + ended.err)
        errors = sum(int(a or b) for a, b in found)
        right = ended.code in (0, 75) and bool(found) and errors == 0
        return [row(f"compute-sanitizer {tool}", f"{errors} errors in {ran} cases; {ended.why() if not right else 'ended well'}",
                    right)]

    return part


def weft_speed(machine, model, seconds, cache):
    """Of a run: seconds to its first step, milliseconds of a step, bytes."""
    environment = dict(machine.own, XDG_CACHE_HOME=str(cache))
    events, ended = machine.train(model.weft, f"speed-{model.name}", seconds, "--devices", "cuda", "--max-steps",
                                  str(model.steps), environment=environment, watch_memory=True)
    steps = [(at, event["step_ms"]) for at, event in events if event["event"] == "step"]
    if ended.code != 0 or not steps:
        return None, ended
    half = [ms for _, ms in steps[len(steps) // 2:]]
    return {"first_s": steps[0][0], "step_ms": statistics.median(half), "bytes": ended.peak_bytes}, ended


def peer_speed(machine, command, seconds):
    ended = machine.run([machine.python, *command], seconds, environment=dict(os.environ),
                        watch_memory=True)
    found = re.search(r"step_ms ([0-9.]+)", ended.out)
    first = next((at for at, line in ended.lines if line.strip() == "first"), math.nan)
    if ended.code != 0 or found is None:
        return None, ended
    return {"first_s": first, "step_ms": float(found.group(1)), "bytes": ended.peak_bytes}, ended


def speed(name):
    """Weft and its peers on one GPU in one call: ratios mean nothing otherwise."""

    def part(machine, seconds):
        model = models.fast(name)
        contenders = [("PyTorch, eager", [str(machine.peers / "torch_peer.py"), name, "eager"]),
                      ("PyTorch, compiled", [str(machine.peers / "torch_peer.py"), name, "compile"])]
        if model.in_jax:
            contenders.append(("JAX", [str(machine.peers / "jax_peer.py"), name]))
        end = time.monotonic() + seconds - SPARE_SECONDS
        left = lambda: max(1.0, end - time.monotonic())  # noqa: E731: what one saves another may take
        cache = machine.out / f"cache-{name}"
        shutil.rmtree(cache, ignore_errors=True)
        verdicts = machine.out / "cache" / "weft" / "self-test"
        if verdicts.exists():  # cold is a start without kernels, on a GPU that is known
            shutil.copytree(verdicts, cache / "weft" / "self-test")
        rows, peers = [], []
        cold, ended = weft_speed(machine, model, left(), cache)
        warm, ended = weft_speed(machine, model, left(), cache) if cold else (None, ended)
        if warm is None:
            return [row("weft", ended.why(), False)]
        rows.append(row("weft, a step", f"{warm['step_ms']:.2f} ms"))
        rows.append(row("weft, launch to first step", f"{cold['first_s']:.2f} s cold, {warm['first_s']:.2f} s cached"))
        for title, command in contenders:
            peer, ended = peer_speed(machine, [*command, str(model.batch), str(model.steps)], left())
            if peer is None:
                rows.append(row(title, ended.why()))
                continue
            peers.append(peer)
            rows.append(row(f"{title}, a step", f"{peer['step_ms']:.2f} ms, first after {peer['first_s']:.1f} s"))
        if peers:
            best = min(peers, key=lambda peer: peer["step_ms"])
            rows.append(row("weft's speed over the best peer's", f"{best['step_ms'] / warm['step_ms']:.3f}"))
            rows.append(row("weft's memory over that peer's", f"{warm['bytes'] / best['bytes']:.3f}"
                            if warm["bytes"] and best["bytes"] else "not known"))
        return rows

    return part


ALL = [
    Part("machine", 1, describe),
    Part("self-test", 2, self_test),
    Part("ops", 2, None),  # run_cases
    Part("training mlp", 1, same_training("mlp", "f32", 1e-3)),
    Part("training gpt", 1, same_training("gpt", "f32", 1e-3)),
    Part("training cnn", 1, same_training("cnn", "f32", 1e-3)),
    Part("training gpt in bf16", 1, same_training("gpt", "bf16", 3e-2)),
    Part("resume", 2, resume),
    Part("sanitizer memcheck", 3, sanitizer("memcheck")),
    Part("sanitizer racecheck", 3, sanitizer("racecheck")),
    Part("speed mlp", 3, speed("mlp")),
    Part("speed gpt2-124m", 5, speed("gpt2-124m")),
    Part("speed resnet50", 5, speed("resnet50")),
    Part("speed gpt2-355m", 6, speed("gpt2-355m")),
]
