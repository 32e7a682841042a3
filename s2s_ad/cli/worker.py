"""One page made in a process of its own, with limits of time and memory: JSON in, JSON out.

The text that is tried may do what the user may do; the limits are there for loops that do not end
and for arrays that do not fit.
"""

from __future__ import annotations

import contextlib
import json
import os
import sys
import tempfile
from argparse import Namespace
from pathlib import Path
from typing import Any

SECONDS = 20  # of processor time
MEMORY = 3 << 30  # bytes of addresses
LARGEST_FILE = 1 << 20  # bytes that it may write into a file


def main() -> int:
    """Read a job from the standard input, and write the page to the standard output."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)  # what the user prints is no answer
    from s2s_ad.cli.commands import page_of  # before there is a job: this takes most of the time
    from s2s_ad.show.html import explorer

    job = json.loads(sys.stdin.read() or "null")
    if job is None:
        return 0
    _limit()
    made = explorer(page_of(_options(job)), whole=True)
    json.dump({"html": made}, answers)
    answers.close()
    return 0


def _options(job: dict[str, Any]) -> Namespace:
    """The options of the command `show`; a text that is tried stands in for the file."""
    target = job["target"]
    if job.get("text") is not None:
        folder = Path(tempfile.mkdtemp(prefix="s2s_ad_", dir=job["folder"]))
        copy = folder / Path(target).name
        copy.write_text(job["text"], encoding="utf-8", newline="\n")
        sys.path.insert(0, str(Path(target).resolve().parent))
        target = str(copy)
    return Namespace(
        target=target,
        expression=job["expression"],
        like=job["like"] or None,
        args=job.get("args"),
        time=job.get("time", False),
    )


def _limit() -> None:
    """Bound what the process may take, where the system can do that."""
    try:
        import resource
    except ImportError:
        return  # who started it ends it after some time
    limits = {
        resource.RLIMIT_CPU: SECONDS,
        resource.RLIMIT_AS: MEMORY,
        resource.RLIMIT_FSIZE: LARGEST_FILE,
        resource.RLIMIT_CORE: 0,
    }
    for kind, limit in limits.items():
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


if __name__ == "__main__":
    sys.exit(main())
