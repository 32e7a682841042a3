"""Pictures of a page: figures as PNG, animations as GIF, which move among the thumbnails too."""

from pathlib import Path
from typing import Any

from matplotlib import pyplot
from matplotlib.animation import Animation, PillowWriter
from PIL import Image, ImageSequence
from sphinx_gallery.scrapers import figure_rst, matplotlib_scraper

#: of a moving picture: dots for each inch of the figure, and colours
DPI, COLOURS = 90, 96


def plain(gallery_conf: dict[str, Any], file: str) -> None:
    """Before each program: the look that all pictures of the site have."""
    pyplot.close("all")
    pyplot.style.use(["default", str(Path(gallery_conf["src_dir"]) / "site.mplstyle")])


def scraper(block: Any, block_vars: dict[str, Any], gallery_conf: dict[str, Any]) -> str:
    """The text that shows what the block has drawn."""
    shown = ""
    for value in block_vars["example_globals"].values():
        if isinstance(value, Animation) and value._fig.number in pyplot.get_fignums():
            path = Path(next(block_vars["image_path_iterator"])).with_suffix(".gif")
            write_gif(value, path)
            shown += figure_rst([str(path)], gallery_conf["src_dir"], _title(value))
            pyplot.close(value._fig)
    return shown + matplotlib_scraper(block, block_vars, gallery_conf)


def write_gif(animation: Animation, path: Path) -> None:
    """With one palette for all frames, which makes the file several times smaller."""
    animation.save(path, PillowWriter(fps=1000 / animation._interval), dpi=DPI)
    with Image.open(path) as made:
        frames = [frame.convert("RGB") for frame in ImageSequence.Iterator(made)]
    palette = _side_by_side(frames).quantize(COLOURS)
    first, *others = [frame.quantize(palette=palette, dither=0) for frame in frames]
    first.save(
        path, save_all=True, append_images=others, duration=animation._interval, loop=0, disposal=1
    )


def _side_by_side(frames: list[Image.Image]) -> Image.Image:
    """First, middle and last frame in one image: their colours are those of all."""
    chosen = [frames[0], frames[len(frames) // 2], frames[-1]]
    width, height = frames[0].size
    sheet = Image.new("RGB", (width * len(chosen), height))
    for position, frame in enumerate(chosen):
        sheet.paste(frame, (position * width, 0))
    return sheet


def _title(animation: Animation) -> str:
    titles = [axes.get_title(loc="left") for axes in animation._fig.axes]
    return ", ".join(filter(None, titles))
