"""A folder of files that processes share: none is believed before its owner, permissions and
checksum are, and what cannot be read or written is as if it were not there.

A checksum finds damage; that nobody else wrote a file its owner and permissions say.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

MAGIC = b"s2s_ad cache 1\n"
SUFFIX = ".s2s"
UNFINISHED = ".part"
MOST_BYTES = 256 << 20  # of all files together; those that were not used for longest go first
ABANDONED = 3600.0  # seconds after which an unfinished file has no writer any more
BY_OTHERS = stat.S_IWGRP | stat.S_IWOTH


def default_folder() -> Path | None:
    """Where the user's caches are; None where there is none, or S2S_AD_CACHE=0 switches it off.

    S2S_AD_CACHE_DIR names another folder.
    """
    if os.environ.get("S2S_AD_CACHE") == "0":
        return None
    named = os.environ.get("S2S_AD_CACHE_DIR")
    if named:
        return Path(named)
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA") or "~/AppData/Local"
    elif sys.platform == "darwin":
        caches = "~/Library/Caches"
    else:
        caches = os.environ.get("XDG_CACHE_HOME") or "~/.cache"
    try:
        return Path(caches, "s2s_ad").expanduser()
    except RuntimeError:  # a user without a home
        return None


@dataclass(frozen=True, slots=True)
class Entry:
    """A file of the cache, what it says of itself, and when it was used last."""

    path: Path
    made_of: Mapping[str, Any]
    shown: str
    nbytes: int
    used: float


class DiskCache:
    """Bytes by what they were made of, which is a dict of JSON.

    Args:
        folder: made where it is not there yet; it has to belong to this user alone.
    """

    def __init__(self, folder: Path, most_bytes: int = MOST_BYTES):
        self.folder, self.most_bytes = folder, most_bytes

    def problem(self) -> str:
        """Why nothing in the folder is used; empty where there is no reason."""
        try:
            found = os.stat(self.folder)
        except FileNotFoundError:
            return ""
        except OSError as error:
            return str(error)
        return "it is no folder" if not stat.S_ISDIR(found.st_mode) else _foreign(found)

    def read(self, made_of: Mapping[str, Any]) -> bytes | None:
        """What was written for it, and is whole."""
        path = self._path(made_of)
        content = None if self.problem() else _own_bytes(path)
        if content is None or not content.startswith(MAGIC):
            return None
        checksum, header, payload = _parts(content)
        if checksum != _checksum(header, payload) or json.loads(header)["made_of"] != made_of:
            return None
        with contextlib.suppress(OSError):  # a folder that is only read
            os.utime(path)
        return payload

    def write(self, made_of: Mapping[str, Any], payload: bytes, shown: str = "") -> None:
        """Keep bytes; whoever reads at the same time sees all of them, or what was there before.

        Args:
            shown: what people are told of them.
        """
        header = _json({"made_of": made_of, "shown": shown})
        content = b"".join([MAGIC, _checksum(header, payload), b"\n", header, b"\n", payload])
        with contextlib.suppress(OSError):
            self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            if self.problem() or len(content) > self.most_bytes:
                return
            put(self._path(made_of), content)
            self._bound()

    def entries(self) -> list[Entry]:
        """The files that this cache wrote, those used last first; nothing is unpacked for it."""
        found = []
        for path, state in self._files(SUFFIX):
            content = _own_bytes(path)
            if content is None or not content.startswith(MAGIC):
                continue
            checksum, header, payload = _parts(content)
            if checksum == _checksum(header, payload):
                found.append(
                    Entry(path, **json.loads(header), nbytes=state.st_size, used=state.st_mtime)
                )
        return sorted(found, key=lambda each: -each.used)

    def clear(self) -> int:
        """Remove all files of the cache, unfinished ones too; how many there were."""
        if self.problem():
            return 0
        paths = [path for path, _ in (*self._files(SUFFIX), *self._files(UNFINISHED))]
        return sum(map(_removed, paths))

    def _path(self, made_of: Mapping[str, Any]) -> Path:
        return self.folder / (hashlib.sha256(_json(made_of)).hexdigest()[:40] + SUFFIX)

    def _files(self, suffix: str) -> Iterator[tuple[Path, os.stat_result]]:
        with contextlib.suppress(OSError), os.scandir(self.folder) as items:
            for item in items:
                with contextlib.suppress(OSError):  # another process has removed it
                    if item.name.endswith(suffix) and item.is_file(follow_symlinks=False):
                        yield Path(item.path), item.stat(follow_symlinks=False)

    def _bound(self) -> None:
        """Remove what was not used for longest, until the rest is small enough."""
        files = sorted(self._files(SUFFIX), key=lambda each: each[1].st_mtime)
        total = sum(state.st_size for _, state in files)
        for path, state in files:
            if total <= self.most_bytes:
                break
            _removed(path)
            total -= state.st_size
        for path, state in self._files(UNFINISHED):
            if time.time() - state.st_mtime > ABANDONED:
                _removed(path)


# ---- files ---------------------------------------------------------------------------------------


def _json(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True).encode()


def _checksum(header: bytes, payload: bytes) -> bytes:
    return hashlib.sha256(header + b"\n" + payload).hexdigest().encode()


def _parts(content: bytes) -> tuple[bytes, bytes, bytes]:
    """The checksum, the header and the payload; what is missing is empty."""
    checksum, _, rest = content[len(MAGIC) :].partition(b"\n")
    header, _, payload = rest.partition(b"\n")
    return checksum, header, payload


def _foreign(found: os.stat_result) -> str:
    """Why a file or folder may be another user's; on Windows the folder of the user decides."""
    if not hasattr(os, "geteuid"):
        return ""
    if found.st_uid != os.geteuid():
        return f"it belongs to user {found.st_uid}"
    if found.st_mode & BY_OTHERS:
        return f"others may write to it (mode {stat.S_IMODE(found.st_mode):o})"
    return ""


def _own_bytes(path: Path) -> bytes | None:
    """The content of a file that this user alone may have written."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
    flags |= getattr(os, "O_NONBLOCK", 0)  # a pipe in the place of a file must not be waited for
    try:
        with open(os.open(path, flags), "rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode) or _foreign(found):
                return None
            return file.read()
    except OSError:
        return None


def put(path: Path, content: bytes) -> None:
    """Write a file beside its place, then put it there."""
    number, beside = tempfile.mkstemp(UNFINISHED, dir=path.parent)
    try:
        with open(number, "wb") as file:
            file.write(content)
        os.replace(beside, path)
    except BaseException:
        _removed(Path(beside))
        raise


def _removed(path: Path) -> bool:
    with contextlib.suppress(OSError):
        path.unlink()
        return True
    return False
