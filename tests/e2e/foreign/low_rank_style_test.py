# SPDX-License-Identifier: Apache-2.0
"""Low-rank factors teach a small GPT-2 a style of text that it has not read, while its own weights stay.

    python3 low_rank_style_test.py WEFT

A base is trained on one licence text of the system, byte by byte. Factors are then trained beside it on
the first part of another licence; the last part, which neither has read, tells what they learned. The
merged export must go on with a text as `weft` does, word for word. Prints the figures. Needs torch,
transformers and safetensors, and the licence texts of Debian; exits 77 where one is missing.
"""
import json
import pathlib
import subprocess
import sys
import tempfile
import time

try:
    import torch
    import transformers
    from safetensors.torch import load_file
except ImportError as missing:
    print(f"SKIPPED: torch, transformers and safetensors are needed: {missing}")
    sys.exit(77)

LICENCES = pathlib.Path("/usr/share/common-licenses")
BASE_TEXT, STYLE_TEXT = "GPL-3", "MPL-2.0"
CONTEXT = 64
HELD_OUT = 0.2  # of the style's text, its end
RANK = 8
PROMPT = "You may distribute such "
CONTINUED = CONTEXT - len(PROMPT)  # so that neither side has to move its window


def weft(*arguments):
    run = subprocess.run([WEFT, *map(str, arguments)], capture_output=True, text=True, check=False,
                         timeout=1200)
    if run.returncode != 0:
        raise AssertionError(f"weft {arguments} exited with {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout


def config(name, texts, steps, rate, **more):
    return {"name": name, "data": {split: {"type": "text", "path": str(path)} for split, path in texts.items()},
            "model": {"type": "gpt2", "layers": 3, "width": 96, "heads": 4, "context": CONTEXT, "dropout": 0.0},
            "metrics": ["bits_per_byte"],
            "optimizer": {"type": "adamw", "learning_rate": rate, "weight_decay": 0.0},
            "lr_schedule": {"type": "warmup_cosine", "warmup_steps": 30, "end_factor": 0.05},
            "training": {"length": {"steps": steps}, "global_batch_size": 16, "precision": "f32"},
            "evaluation": {"every": {"steps": steps}, "samples": 0}, **more}


def train(folder, name, *arguments, **settings):
    path = folder / f"{name}.json"
    path.write_text(json.dumps(config(name, **settings)))
    begun = time.monotonic()
    weft("train", path, "--run-dir", folder / name, *arguments)
    return folder / name, time.monotonic() - begun


def bits_per_byte(run):
    events = [json.loads(line) for line in (run / "events.jsonl").read_text().splitlines()]
    return [event["metrics"]["validation/bits_per_byte"] for event in events
            if event["event"] == "evaluation"]


def arrays(run, folder):
    file = folder / f"{run.name}.safetensors"
    weft("checkpoint", "export", run, "--to", file, "--all", "--force")
    return load_file(file)


def goes_on(model):
    tokens = torch.tensor([list(PROMPT.encode())])
    out = model.generate(tokens, attention_mask=torch.ones_like(tokens), max_new_tokens=CONTINUED,
                         do_sample=False, pad_token_id=0)
    return bytes(out[0].tolist()).decode(errors="replace")


def check(folder):
    style = (LICENCES / STYLE_TEXT).read_bytes()
    cut = int(len(style) * (1 - HELD_OUT))
    seen, unseen = folder / "seen.txt", folder / "unseen.txt"
    seen.write_bytes(style[:cut])
    unseen.write_bytes(style[cut:])

    base, base_s = train(folder, "base", texts={"train": LICENCES / BASE_TEXT, "validation": unseen},
                         steps=1200, rate=3e-3)
    factors = {"rank": RANK, "alpha": 2 * RANK, "dropout": 0.05}
    tuned, tuned_s = train(folder, "tuned", texts={"train": seen, "validation": unseen}, steps=400,
                           rate=5e-3, init={"from": str(base), "lora": factors})
    before, after = bits_per_byte(tuned)[0], bits_per_byte(tuned)[-1]
    print(f"base: {BASE_TEXT}, {base_s:.0f} s; factors of rank {RANK}: {STYLE_TEXT}, {tuned_s:.0f} s")
    print(f"bits per byte of text that neither has read: {before:.3f} before, {after:.3f} after")
    assert after < 0.85 * before, "the factors learned next to nothing of the style"

    ours, old = arrays(tuned, folder), arrays(base, folder)
    own = [name for name in old if "/" not in name and not name.startswith("training.")]
    changed = [name for name in own if not torch.equal(ours[name], old[name])]
    trained = sum(tensor.numel() for name, tensor in ours.items() if ".lora." in name and "/" not in name)
    print(f"{len(own)} arrays of the base, {len(changed)} changed; {trained} numbers trained of "
          f"{sum(old[name].numel() for name in own)}")
    assert own and not changed, changed

    weft("checkpoint", "export", tuned, "--to", folder / "merged", "--as", "huggingface")
    model = transformers.AutoModelForCausalLM.from_pretrained(folder / "merged", dtype=torch.float32).eval()
    theirs = goes_on(model)
    text = weft("generate", tuned, "--prompt", PROMPT, "--tokens", CONTINUED, "--temperature", 0)
    print(f"transformers goes on: {theirs!r}")
    assert theirs in text, f"weft goes on: {text!r}"
    untouched = weft("generate", base, "--prompt", PROMPT, "--tokens", CONTINUED, "--temperature", 0)
    assert untouched != text, "the factors change the text"


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    WEFT = sys.argv[1]
    if not all((LICENCES / name).is_file() for name in (BASE_TEXT, STYLE_TEXT)):
        print(f"SKIPPED: {LICENCES} has no {BASE_TEXT} or {STYLE_TEXT}")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as holder:
        check(pathlib.Path(holder))
