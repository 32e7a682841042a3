"""How Sphinx makes the site: `make docs`. Pages that are programs stand in docs/pages."""

import os
import sys
from pathlib import Path

os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # before NumPy: pages are run side by side
os.environ.setdefault("MPLBACKEND", "Agg")
os.environ["BROWSER"] = "true"  # pages of the explorer become part of the site, and are not opened

from s2s_ad import __version__

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE / "extensions")]

project, author, copyright = "s2s_ad", "the s2s_ad authors", "the s2s_ad authors"
version = release = __version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "generated_code",
    "error_pages",
    "plain_docstrings",
    "kept_above",
    "first_picture",
    "live_page",
    "command_help",
]
exclude_patterns = ["pages", "extensions", "**/sg_execution_times.rst"]
source_suffix = {".rst": "restructuredtext", ".md": "markdown"}
nitpicky = True
# Types that annotations of docstrings name and no page describes.
nitpick_ignore_regex = [("py:.*", r"(?!s2s_ad\.(?!api|core|tensors|nn|ops|amp)).*")]
keep_warnings = True

# ---- text ----------------------------------------------------------------------------------------

myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 3
autodoc_member_order = "bysource"
autodoc_typehints = "none"
default_role = "code"
highlight_language = "python"

# ---- looks ---------------------------------------------------------------------------------------

html_theme = "pydata_sphinx_theme"
html_title = "s2s_ad"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "s2s_ad"},
    "navbar_align": "left",
    "show_prev_next": True,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_nav_level": 2,
    "pygments_light_style": "friendly",
    "pygments_dark_style": "nord",
}
html_sidebars = {"index": [], "gallery/index": []}

# ---- pages that are programs ---------------------------------------------------------------------


sphinx_gallery_conf = {
    "examples_dirs": ["pages/tutorial", "pages/howto", "pages/gallery"],
    "gallery_dirs": ["tutorial", "howto", "gallery"],
    "filename_pattern": r"\.py$",
    "ignore_pattern": r"__init__\.py$",
    "within_subsection_order": "page_order.PageOrder",
    "image_scrapers": ("moving_pictures.scraper",),
    "image_srcset": [],
    "reset_modules": ("moving_pictures.plain",),
    "copyfile_regex": r"index\.rst",
    "capture_repr": ("_repr_html_", "__repr__"),
    "matplotlib_animations": False,
    "remove_config_comments": True,
    "thumbnail_size": (560, 240),
    "line_numbers": True,
    "show_memory": False,
    "show_signature": False,
    "write_computation_times": False,
    "download_all_examples": False,
    "abort_on_example_error": True,
    "plot_gallery": "True",
    "parallel": 2,
}
