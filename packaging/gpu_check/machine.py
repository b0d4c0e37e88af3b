# SPDX-License-Identifier: Apache-2.0
"""The GPU machine: programs of the bundle, run with the libraries that are there."""
import glob
import json
import os
import pathlib
import shutil
import subprocess
import sys
import threading
import time

# Where NVIDIA's libraries put themselves: its packages, and wheels of any Python.
LIBRARY_PLACES = ["/usr/local/cuda/lib64", "/usr/local/cuda*/lib64", "/usr/local/nvidia/lib64"]


class Ended:
    def __init__(self, code, out, err, lines, peak_bytes):
        self.code, self.out, self.err = code, out, err
        self.lines = lines  # (seconds since the start, line) of stdout
        self.peak_bytes = peak_bytes  # of GPU 0, beyond what others held; None: not known

    def why(self):
        said = (self.err or self.out).strip().splitlines()
        return f"exit code {self.code}: {said[-1] if said else 'it says nothing'}"


class Machine:
    def __init__(self, here, out, modules):
        self.here, self.out = here, out
        self.weft = str(here / "bin" / "weft")
        self.cases = str(here / "bin" / "gpu_cases")
        self.peers = here / "peers"
        self.module = pathlib.Path(modules or here / "lib" / "weft") / "weft-backend-cuda.so"
        self.python = shutil.which("python3") or sys.executable
        self.nvidia_smi = shutil.which("nvidia-smi")
        found = [path for place in LIBRARY_PLACES for path in glob.glob(place)]
        for site in self._site_packages():
            found += sorted(glob.glob(f"{site}/nvidia/*/lib"))
        libraries = [str(here / "lib"), *found, os.environ.get("LD_LIBRARY_PATH", "")]
        self.own = dict(os.environ, LD_LIBRARY_PATH=":".join(filter(None, libraries)),
                        WEFT_RUNS=str(out / "runs"), XDG_CACHE_HOME=str(out / "cache"))
        if modules:
            self.own["WEFT_MODULES"] = modules

    def _site_packages(self):
        asked = subprocess.run([self.python, "-c", "import json, sys; print(json.dumps(sys.path))"],
                               capture_output=True, text=True)
        return json.loads(asked.stdout) if asked.returncode == 0 else []

    def _used_bytes(self):
        asked = subprocess.run([self.nvidia_smi, "--query-gpu=memory.used", "--format=csv,noheader,nounits", "-i", "0"],
                               capture_output=True, text=True)
        text = asked.stdout.strip()
        return int(text) << 20 if asked.returncode == 0 and text.isdigit() else None

    def run(self, command, seconds, environment=None, watch_memory=False):
        """Ended, with code 124 when it took longer than it may."""
        before = self._used_bytes() if watch_memory and self.nvidia_smi else None
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                   env=environment or self.own)
        begin, lines, err, peak = time.monotonic(), [], [], before
        readers = [threading.Thread(target=lambda: lines.extend((time.monotonic() - begin, line) for line in process.stdout)),
                   threading.Thread(target=lambda: err.append(process.stderr.read()))]
        for reader in readers:
            reader.start()
        code = None
        while code is None:
            try:
                code = process.wait(timeout=0.25)
            except subprocess.TimeoutExpired:
                peak = max(peak, self._used_bytes() or 0) if before is not None else None
                if time.monotonic() - begin > seconds:
                    process.kill()
                    process.wait()
                    code = 124
        for reader in readers:
            reader.join()
        return Ended(code, "".join(line for _, line in lines), "".join(err), lines,
                     peak - before if before is not None else None)

    def run_json(self, command, seconds):
        """What it prints, or None; and how it ended."""
        ended = self.run(command, seconds)
        try:
            return json.loads(ended.out), ended
        except ValueError:
            return None, ended

    def train(self, config, folder, seconds, *arguments, environment=None, watch_memory=False):
        """Events with the seconds at which they came, and how it ended."""
        path = self.out / "configs" / f"{folder}.json"
        path.parent.mkdir(exist_ok=True)
        path.write_text(json.dumps(config))
        run_folder = self.out / "runs" / folder
        shutil.rmtree(run_folder, ignore_errors=True)
        ended = self.run([self.weft, "train", str(path), "--run-dir", str(run_folder), "--events", *arguments],
                         seconds, environment, watch_memory)
        events = []
        for at, line in ended.lines:
            try:
                events.append((at, json.loads(line)))
            except ValueError:  # cut off by the end
                pass
        return events, ended
