"""A page of the explorer as a browser would find it, read with the standard library."""

from __future__ import annotations

import base64
import re
import zlib
from dataclasses import dataclass, field
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "img", "input"}


@dataclass
class Element:
    """An element of the page, with what is in it."""

    tag: str
    attributes: dict[str, str]
    children: list = field(default_factory=list)

    @property
    def text(self) -> str:
        return "".join(each if isinstance(each, str) else each.text for each in self.children)

    @property
    def classes(self) -> set[str]:
        return set(self.attributes.get("class", "").split())

    def all(self, tag: str = "", kind: str = "", **attributes: str) -> list[Element]:
        """The elements inside of it with this tag, class and attributes."""
        found = []
        for each in self.children:
            if isinstance(each, Element):
                fits = (not tag or each.tag == tag) and (not kind or kind in each.classes)
                if fits and attributes.items() <= each.attributes.items():
                    found.append(each)
                found += each.all(tag, kind, **attributes)
        return found

    def one(self, tag: str = "", kind: str = "", **attributes: str) -> Element:
        (found,) = self.all(tag, kind, **attributes)
        return found


class Reader(HTMLParser):
    """Makes a tree of Elements; tags that do not fit each other are an error."""

    def __init__(self) -> None:
        super().__init__()
        self.root = Element("", {})
        self.open = [self.root]

    def handle_starttag(self, tag: str, attrs: list) -> None:
        element = Element(tag, {key: value or "" for key, value in attrs})
        self.open[-1].children.append(element)
        if tag not in VOID:
            self.open.append(element)

    def handle_endtag(self, tag: str) -> None:
        assert self.open[-1].tag == tag, f"</{tag}> closes <{self.open[-1].tag}>"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.open[-1].children.append(data)


def read(text: str) -> Element:
    """The page, its packed panels unpacked."""
    text = re.sub(r' data-packed="([^"]*)">', lambda packed: f">{_unpacked(packed[1])}", text)
    reader = Reader()
    reader.feed(text)
    reader.close()
    assert reader.open == [reader.root]
    return reader.root


def _unpacked(packed: str) -> str:
    return zlib.decompress(base64.b64decode(packed)).decode()


def code_of(line: Element) -> str:
    return line.one("code").text


def panel(page: Element, label: str) -> Element:
    """The panel under the tab with this label."""
    (tab,) = [each for each in page.all("button", role="tab") if each.text == label]
    return page.one("section", id=tab.attributes["aria-controls"])
