# SPDX-License-Identifier: Apache-2.0
"""Which processes a process has started, and whether they have ended."""

import pathlib
import time


def descendants(pid):
    """Of a process that lives, itself not included."""
    children = {}
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
            children.setdefault(int(fields[1]), []).append(int(stat.parent.name))
        except (OSError, IndexError):
            pass
    found, ahead = [], [pid]
    while ahead:
        more = children.get(ahead.pop(), [])
        found += more
        ahead += more
    return found


def gone_within(pids, seconds):
    """Have all of them ended?"""
    deadline = time.time() + seconds
    while any(state_of(pid) not in ("", "Z") for pid in pids):
        if time.time() > deadline:
            return False
        time.sleep(0.05)
    return True


def state_of(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except (OSError, IndexError):
        return ""
