"""Make the pictures of the explorer: `python docs/make_picture.py` writes docs/pictures/*.png.

They need Debian's Chromium, which draws the page without a window, and look as they do
with the fonts Inter and JetBrains Mono (Debian: chromium, fonts-inter, fonts-jetbrains-mono).
"""

from __future__ import annotations

import importlib.util
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

from s2s_ad import grad
from s2s_ad.api.pages import page
from s2s_ad.show.html import document
from s2s_ad.show.model import Page

PICTURES = Path(__file__).parent / "pictures"
WIDTH, HEIGHT, SCALE = 1280, 730, 1.5
LARGEST = 250_000  # bytes of one picture
LIKE = "f64[9], float, 5"
LINE = "grad:20"  # that is pinned: one term of the stencil's adjoint
HEAT = """\
import numpy as np


def energy(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)
"""


def main() -> int:
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if chromium is None:
        print("make_picture: needs Chromium (Debian: chromium)", file=sys.stderr)
        return 1
    PICTURES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        made = explorer(Path(folder))
        for theme in ("light", "dark"):
            path = Path(folder) / f"{theme}.html"
            path.write_text(document(made, theme=theme), encoding="utf-8")
            picture = PICTURES / f"explorer-{theme}.png"
            draw(chromium, path, picture)
            size = picture.stat().st_size
            print(f"{picture.name}: {size:,} bytes")
            if size > LARGEST:
                return 1
    return 0


def explorer(folder: Path) -> Page:
    """The page of the gradient that the README begins with."""
    file = folder / "heat.py"
    file.write_text(HEAT, encoding="utf-8")
    spec = importlib.util.spec_from_file_location("heat", file)
    heat = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(heat)
    transformed = grad(heat.energy, (0, 1))
    title = "grad(energy, (0, 1))"
    return page(transformed, (np.zeros(9), 0.0, 5), {}, title=title, like=LIKE)


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
