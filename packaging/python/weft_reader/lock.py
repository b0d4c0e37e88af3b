# SPDX-License-Identifier: Apache-2.0
"""Whether somebody trains a run: its lock is one of the kernel, on the open file."""
import json
import socket
import struct
import time

try:
    from fcntl import F_OFD_GETLK, F_RDLCK, F_UNLCK, fcntl
except ImportError:  # not Linux: runs here were copied from elsewhere
    fcntl = None

_STALE_SECONDS = 60  # a heartbeat comes every five, if steps are not longer
_FLOCK = "hhqqi"  # struct flock: type, whence, start, length, process


def is_live(folder):
    """Whether a process of this host holds the lock, or one of another host gave a sign of life."""
    try:
        with open(folder / "lock", "rb") as file:
            if fcntl and _is_held(file):
                return True
            text = file.read()
    except OSError:
        return False
    try:
        says = json.loads(text)
        age = time.time() - says["heartbeat"]
        return says["host"] != socket.gethostname() and age < _STALE_SECONDS
    except (ValueError, KeyError, TypeError):
        return False


def _is_held(file):
    answer = fcntl(file, F_OFD_GETLK, struct.pack(_FLOCK, F_RDLCK, 0, 0, 0, 0))
    return struct.unpack(_FLOCK, answer)[0] != F_UNLCK
