"""Files of generated text, for tools that look at files: coverage, editors with break points."""

from __future__ import annotations

import os
from hashlib import sha256
from pathlib import Path

from s2s_ad.diagnostics import ArgumentValueError
from s2s_ad.load.disk_cache import put

#: the variable of the environment that names the folder; without it there are no such files
FOLDER = "S2S_AD_TEXT_DIR"


def kept(name: str, source: str) -> str | None:
    """The file in which the source stands now, where files are asked for.

    The same source stands in one file, however often and in whichever process it is made.

    Raises:
        ArgumentValueError: the folder cannot be made, or cannot be written to.
    """
    folder = os.environ.get(FOLDER)
    if not folder:
        return None
    content = source.encode()
    path = Path(folder).absolute() / f"{name}_{sha256(content).hexdigest()[:12]}.py"
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_bytes() != content:  # somebody may have changed it
            put(path, content)
    except OSError as error:
        raise ArgumentValueError(
            "S2S502",
            f"the text of {name} cannot be written into {folder!r}",
            why=f"{FOLDER} asks for that, and there was {error}",
            help=f"set {FOLDER} to a folder that can be written to, or to nothing",
        ) from error
    return str(path)


__all__ = ["FOLDER", "kept"]
