# SPDX-License-Identifier: Apache-2.0
"""Packs what a GPU machine needs into one file."""
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

MOST_BYTES = 64 << 20
PACKAGING = pathlib.Path(__file__).resolve().parent.parent
# Of every Linux system, and bound to its kernel and loader.
OF_THE_SYSTEM = re.compile(r"(linux-vdso|ld-linux|libc|libm|libdl|libpthread|librt|libresolv)[.-]")


def libraries_of(program):
    """Paths of the libraries that a program loads at its start."""
    told = subprocess.run(["ldd", program], capture_output=True, text=True, check=True).stdout
    missing = re.findall(r"(\S+) => not found", told)
    if missing:
        raise SystemExit(f"gpu-check: {program} lacks {', '.join(missing)}")
    return [path for name, path in re.findall(r"(\S+) => (\S+)", told) if not OF_THE_SYSTEM.match(name)]


def pack(build, target):
    programs = [build / "app" / "cli" / "weft", build / "tests" / "gpu" / "gpu_cases"]
    module = build / "app" / "lib" / "weft" / "weft-backend-cuda.so"
    absent = [str(path) for path in [*programs, module] if not path.exists()]
    if absent:
        print(f"gpu-check: {', '.join(absent)} is not built: cmake --build {build} --target weft gpu_cases "
              "weft-backend-cuda (the module needs the CUDA toolkit: packaging/install-deps --cuda)",
              file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        (root / "bin").mkdir()
        (root / "lib" / "weft").mkdir(parents=True)
        for program in programs:
            shutil.copy2(program, root / "bin")
            for library in libraries_of(program):
                shutil.copy(library, root / "lib")
        shutil.copy2(module, root / "lib" / "weft")
        for path in [*(root / "bin").iterdir(), *(root / "lib").glob("*.so*"), root / "lib" / "weft" / module.name]:
            subprocess.run(["strip", "--strip-unneeded", path], check=True)
        shutil.copy2(PACKAGING / "gpu-check", root)
        shutil.copytree(PACKAGING / "gpu_check", root / "gpu_check", ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copytree(PACKAGING.parent / "tests" / "perf" / "peers", root / "peers",
                        ignore=shutil.ignore_patterns("__pycache__"))
        with tarfile.open(target, "w:xz") as archive:
            for path in sorted(root.iterdir()):
                archive.add(path, path.name)
    size = target.stat().st_size
    if size > MOST_BYTES:
        print(f"gpu-check: {target} has {size / 2**20:.1f} MiB, and no more than 64 travel", file=sys.stderr)
        return 1
    print(f"{target}: {size / 2**20:.1f} MiB. On the GPU machine: mkdir check && tar xf {target.name} -C check && "
          "check/gpu-check")
    return 0
