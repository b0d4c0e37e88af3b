# SPDX-License-Identifier: Apache-2.0
"""Runs the `weft` that a test was given."""
import subprocess

PATIENCE_S = 300
program = ""  # from the command line


def weft(*arguments, code=0):
    run = subprocess.run([program, *map(str, arguments)], capture_output=True, text=True, check=False,
                         timeout=PATIENCE_S)
    if run.returncode != code:
        raise AssertionError(f"weft {arguments} exited with {run.returncode}: {run.stdout}{run.stderr}")
    return run.stdout if "--json" in arguments else run.stdout + run.stderr
