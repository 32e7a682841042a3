"""Every link of the site leads somewhere, and nothing is fetched from elsewhere.

python docs/check_links.py build/site
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: elements that a browser fetches by itself, with the attributes that say from where
FETCHED = {
    ("img", "src"),
    ("script", "src"),
    ("iframe", "src"),
    ("source", "srcset"),
    ("link", "href"),
}

#: files that stand above docs, where they are looked for, and their pages in the site
ABOVE = {"../CONTRIBUTING.md": "contributing.md"}


class Page(HTMLParser):
    """What a page links to, what it fetches, and the places in it that may be linked to."""

    def __init__(self, text: str):
        super().__init__()
        self.links: list[tuple[str, str, str]] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Note the addresses of an element."""
        for name, value in attributes:
            if name in {"id", "name"}:
                self.places.add(value)
            elif name in {"href", "src"} and value:
                self.links.append((tag, name, value))


def faults(site: Path) -> list[str]:
    """What is wrong with the links of the pages under this folder, a line for each."""
    files = (each for each in sorted(site.rglob("*.html")) if "_static" not in each.parts)
    pages = {path: Page(path.read_text(encoding="utf-8")) for path in files}
    found = [] if pages else [f"{site}: no page"]
    for path, page in pages.items():
        for tag, name, link in dict.fromkeys(page.links):
            wrong = _fault(site, pages, path, tag, name, link)
            if wrong:
                found.append(f"{path.relative_to(site)}: {link}: {wrong}")
    return found


def _fault(site: Path, pages: dict[Path, Page], path: Path, tag: str, name: str, link: str) -> str:
    parts = urlsplit(link)
    if parts.scheme in {"data", "mailto"}:
        return ""
    if parts.scheme or parts.netloc:
        return "is fetched from another place" if (tag, name) in FETCHED else ""
    target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
    if target.is_dir():
        target /= "index.html"
    if not target.exists() or site.resolve() not in target.resolve().parents:
        return "leads to no file"
    place = unquote(parts.fragment)
    if place and target in pages and place not in {*pages[target].places, "top"}:
        return f"{target.name} has no such place"
    return ""


def main() -> int:
    """Print the faults; the status for the shell."""
    site = Path(sys.argv[1]).resolve()
    found = faults(site)
    print("\n".join(found) or "no dead link")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
