"""What is kept on disk between processes, as a table for people."""

from __future__ import annotations

import time

from s2s_ad.load.disk_cache import DiskCache, Entry

HEAD = ("function", "arguments", "KB", "used", "what it is")
AGES = {"d": 86400, "h": 3600, "min": 60, "s": 1}


def listing(cache: DiskCache) -> str:
    """The functions whose code is kept, those used last first."""
    entries = cache.entries()
    rows = [HEAD, *map(_row, entries)] if entries else []
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)][:-1]
    lines = [
        "  ".join([*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[-1]])
        for row in rows
    ]
    kept = sum(each.nbytes for each in entries)
    lines.append(
        f"{_functions(len(entries))}, {_kilobytes(kept)} KB of at most "
        f"{_kilobytes(cache.most_bytes)} KB, in {cache.folder}"
    )
    return "".join(f"{line.rstrip()}\n" for line in lines)


def cleared(cache: DiskCache) -> str:
    """Removes all that is kept, and says so."""
    return f"{cache.clear()} files removed from {cache.folder}\n"


def _row(entry: Entry) -> tuple[str, ...]:
    made_of = entry.made_of
    arguments = ", ".join(made_of["arguments"])
    name = made_of["function"]
    return name, arguments, _kilobytes(entry.nbytes), _age(time.time() - entry.used), entry.shown


def _age(seconds: float) -> str:
    unit, length = next((u, n) for u, n in AGES.items() if seconds >= n or n == 1)
    return f"{max(seconds, 0) / length:.0f} {unit} ago"


def _kilobytes(nbytes: int) -> str:
    return f"{-(-nbytes // 1024):,}"


def _functions(count: int) -> str:
    return f"{count} function" if count == 1 else f"{count} functions"
