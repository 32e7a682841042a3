"""Make the pictures of the explorer: `python docs/make_picture.py` writes docs/pictures/*.png.

Each picture carries a digest of the code that it shows. `make docs` draws again those whose code is
not written any more, and a test fails for them. They need Debian's Chromium, which draws the page
without a window, and look as they do with the fonts Inter and JetBrains Mono (Debian: chromium,
fonts-inter, fonts-jetbrains-mono).
"""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import numpy as np

from s2s_ad import Transformed, grad
from s2s_ad.api.pages import page
from s2s_ad.show.html import document
from s2s_ad.show.model import Page

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT, SCALE = 1280, 730, 1.5
LARGEST = 250_000  # bytes of one picture
LIKE = "f64[9], float, 5"
LINE = "grad:19"  # that is pinned: one term of the stencil's adjoint
HEAT = """\
import numpy as np


def energy(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)
"""


def main() -> int:
    try:
        for picture in drawn(list(pictures())):
            size = picture.stat().st_size
            print(f"{picture.name}: {size:,} bytes")
            if size > LARGEST:
                return 1
    except FileNotFoundError as error:
        print(f"make_picture: {error}", file=sys.stderr)
        return 1
    return 0


def pictures() -> dict[Path, str]:
    """The files, and the theme that each shows."""
    return {PICTURES / f"explorer-{theme}.png": theme for theme in ("light", "dark")}


def outdated() -> list[Path]:
    """Pictures of code that is not written any more."""
    with tempfile.TemporaryDirectory() as folder:
        mark = digest(Path(folder))
    return [each for each in pictures() if mark not in each.read_bytes()]


def drawn(chosen: list[Path]) -> list[Path]:
    """Those pictures, drawn again."""
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chosen and chromium is None:
        raise FileNotFoundError("needs Chromium (Debian: chromium)")
    with tempfile.TemporaryDirectory() as folder:
        made, mark = explorer(Path(folder)), digest(Path(folder))
        for picture in chosen:
            path = Path(folder) / "page.html"
            path.write_text(document(made, theme=pictures()[picture]), encoding="utf-8")
            draw(chromium, path, picture)
            picture.write_bytes(marked(picture.read_bytes(), mark))
    return chosen


def example(folder: Path) -> tuple[Transformed, tuple[object, ...]]:
    """The gradient that the README begins with, and arguments for it."""
    file = folder / "heat.py"
    file.write_text(HEAT, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("heat", file)
    heat = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(heat)
    return grad(heat.energy, (0, 1)), (np.zeros(9), 0.0, 5)


def explorer(folder: Path) -> Page:
    """Its page."""
    transformed, args = example(folder)
    return page(transformed, args, {}, title="grad(energy, (0, 1))", like=LIKE)


def digest(folder: Path) -> bytes:
    """Of the code at both sides of the page."""
    transformed, args = example(folder)
    return hashlib.sha256((HEAT + transformed.source(*args)).encode()).hexdigest().encode()


def marked(png: bytes, mark: bytes) -> bytes:
    """The picture with the digest as a comment, in front of the chunk that ends it."""
    content = b"tEXt" + b"Comment\0" + mark
    chunk = struct.pack(">I", len(content) - 4) + content + struct.pack(">I", zlib.crc32(content))
    return png[:-12] + chunk + png[-12:]


def draw(chromium: str, path: Path, picture: Path) -> None:
    with tempfile.TemporaryDirectory() as profile:
        subprocess.run(
            [
                chromium,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-background-networking",
                "--disable-component-update",
                "--disable-sync",
                "--no-first-run",
                "--hide-scrollbars",
                f"--user-data-dir={profile}",
                f"--window-size={WIDTH},{HEIGHT}",
                f"--force-device-scale-factor={SCALE}",
                f"--screenshot={picture}",
                f"{path.as_uri()}#{LINE}",
            ],
            check=True,
            timeout=120,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )


if __name__ == "__main__":
    sys.exit(main())
