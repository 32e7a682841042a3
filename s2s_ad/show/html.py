"""A page of the explorer as HTML: one file, or a fragment, with all that it needs."""

from __future__ import annotations

import base64
import functools
import hashlib
import re
import zlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from html import escape
from importlib.resources import files
from os.path import basename

from s2s_ad.diagnostics import Origin, S2SError
from s2s_ad.show import colours
from s2s_ad.show.colours import Piece
from s2s_ad.show.model import Fact, Kept, Line, Page, Panel, Place, Source, Time

POLICY = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:"
LETTERS = {"forward": "f", "backward": "b", "tangent": "t"}
HEAD = ("name", "bytes", "kept", "why")
GAP = '<div class="gap" aria-hidden="true">⋯</div>'
KEYS = (
    ("↑ ↓", "lines"),
    ("← →", "sides"),
    ("n", "names"),
    ("Enter", "pin"),
    ("Esc", "let go"),
)
TOOLS = (
    '<button data-do="copy" type="button">Copy</button><button data-do="theme" type="button" '
    'aria-label="light or dark" title="light or dark">◐</button>'
)


def document(page: Page, *, theme: str = "") -> str:
    """The page as a file of its own, in light or dark, or as the reader's system has it."""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(page.title)}</title>\n"
        "<style>html,body{margin:0;height:100%}</style>\n</head>\n<body>\n"
        f"{fragment(page, theme=theme, whole=True)}\n</body>\n</html>\n"
    )


def fragment(page: Page, *, theme: str = "", whole: bool = False) -> str:
    """The page as a part of another, with its style and script; `whole`: it fills the window."""
    body = explorer(page, theme=theme, whole=whole)
    name = f"s2s-{hashlib.sha256(body.encode()).hexdigest()[:10]}"
    return (
        f"<style>{asset('explorer.css')}</style>\n"
        f"{body.replace('s2s-id', name)}\n"
        f"<script>{asset('explorer.js')}\ns2sExplorer(document.getElementById('{name}'));</script>"
    )


@functools.cache
def asset(name: str) -> str:
    """The text of a file that comes with this package."""
    return files("s2s_ad.show").joinpath("assets", name).read_text(encoding="utf-8").strip()


def explorer(page: Page, *, theme: str = "", whole: bool = False) -> str:
    """The elements alone; `s2s-id` stands for the name of the outermost."""
    numbers = {source.file: index for index, source in enumerate(page.sources)}
    roots = {root for panel in page.panels for root in panel.families.values()}
    colour = f' data-theme="{theme}"' if theme else ""
    yours = "".join(_source(each, numbers[each.file], roots) for each in page.sources)
    tabs = "".join(_tab(each, page.selected) for each in page.panels)
    panels = "".join(_panel(each, numbers, page.selected) for each in page.panels)
    keys = "".join(f"<span><kbd>{key}</kbd> {what}</span>" for key, what in KEYS)
    return f"""<div class="s2s{" whole" if whole else ""}" id="s2s-id"{colour}>
<header>
<div class="title"><h1>{escape(page.title)}</h1><p>{escape(page.like)}</p></div>
<div class="tools">{TOOLS}</div>
<div class="tabs" role="tablist" aria-label="what is made of the function">{tabs}</div>
</header>
<div class="panes"{' role="main"' if whole else ""}>
<div class="yours">{yours}</div>
<svg class="links" aria-hidden="true"></svg>
<div class="made">{panels}</div>
</div>
<footer><p role="status" aria-live="polite"></p><div class="keys">{keys}</div></footer>
</div>"""


# ---- the user's side -----------------------------------------------------------------------------


def _source(source: Source, number: int, roots: set[str]) -> str:
    pieces = colours.python(source.lines)
    rows: list[str] = []
    after = 0
    for first, last in source.parts:
        if first > after + 1:
            rows.append(GAP)
        after = last
        for n in range(first, last + 1):
            code = _pieces(pieces[n - 1], roots)
            rows.append(
                f'<div class="l" data-i="{number}.{n}"><i>{n}</i><u></u><code>{code}</code></div>'
            )
    if after < len(source.lines):
        rows.append(GAP)
    label = escape(source.label)
    return f"<section><h2>{label}</h2>{_lines('code', f'your code, {label}', rows)}</section>"


def _lines(classes: str, label: str, rows: Iterable[str]) -> str:
    """Lines of code, of which those of one origin are lit together."""
    return (
        f'<div class="{classes}" tabindex="0" role="listbox" aria-multiselectable="true" '
        f'aria-label="{label}">{"".join(rows)}</div>'
    )


# ---- the generated side --------------------------------------------------------------------------


def _tab(panel: Panel, selected: str) -> str:
    on = panel.key == selected
    refused = ' class="no"' if panel.refused else ""
    return (
        f'<button type="button" role="tab"{refused} id="s2s-id-t-{panel.key}" '
        f'aria-controls="s2s-id-p-{panel.key}" aria-selected="{str(on).lower()}" '
        f'tabindex="{0 if on else -1}">{escape(panel.label)}</button>'
    )


def _panel(panel: Panel, numbers: dict[str, int], selected: str) -> str:
    """A panel; one that is not seen first is packed, and the script unpacks it."""
    pairs = panel.families.items()
    names = " ".join(name if name == root else f"{name}:{root}" for name, root in pairs)
    caret = "" if panel.refused is None else _caret(panel.refused, numbers)
    content, more = _content(panel, numbers), ""
    if panel.key != selected:
        content, more = "", f' hidden data-packed="{_packed(content)}"'
    return (
        f'<section role="tabpanel" id="s2s-id-p-{panel.key}" data-names="{escape(names)}" '
        f'aria-labelledby="s2s-id-t-{panel.key}"{caret}{more}>{content}</section>'
    )


def _packed(content: str) -> str:
    return base64.b64encode(zlib.compress(content.encode(), 9)).decode()


def _content(panel: Panel, numbers: dict[str, int]) -> str:
    if panel.refused is not None:
        return _refusal(panel.refused)
    coloured = getattr(colours, panel.language)([line.text for line in panel.lines])
    known = set(panel.families)
    longest = max((line.time.share for line in panel.lines if line.time), default=0.0) or 1.0
    rows = (
        _line(n, line, _pieces(pieces, known), numbers, longest)
        for n, (line, pieces) in enumerate(zip(panel.lines, coloured, strict=True), 1)
    )
    shown = [
        *(["has-kept"] if any(line.kept for line in panel.lines) else []),
        *(["has-time"] if any(line.time for line in panel.lines) else []),
    ]
    return (
        f'<h2>{escape(panel.about)}</h2><dl class="facts">'
        f"{''.join(map(_fact, panel.facts))}</dl>"
        f"{_lines(' '.join(['code', *shown]), f'{escape(panel.label)}, generated code', rows)}"
        f"{_table(panel.kept)}"
    )


def _line(n: int, line: Line, code: str, numbers: dict[str, int], longest: float) -> str:
    letter = LETTERS.get(line.phase, "")
    places = _places(line.places, numbers)
    kind = f" {letter}" if letter else ""
    keys = f' data-k="{places}"' if places else ""
    if places and line.columns is not None:
        keys += f' data-c="{line.columns[0]} {line.columns[1]}"'
    return (
        f'<div class="l{kind}"{keys}><i>{n}</i>{_kept(line.kept)}{_time(line.time, longest)}'
        f"<code>{code}</code></div>"
    )


def _places(places: Iterable[Place], numbers: dict[str, int]) -> str:
    return " ".join(f"{numbers[file]}.{line}" for file, line in places if file in numbers)


def _kept(kept: Sequence[Kept]) -> str:
    if not kept:
        return ""
    about = "; ".join(f"keeps {e.name}, {_bytes(e.size)}, {e.when}: {e.why}" for e in kept)
    digits = [each.size.replace(",", "") for each in kept]
    size = _short(sum(map(int, digits))) if all(map(str.isdigit, digits)) else "kept"
    return f'<em title="{escape(about, quote=True)}">{size}</em>'


def _time(time: Time | None, longest: float) -> str:
    if time is None:
        return ""
    taken = time.microseconds
    about = f"{taken:.3g} µs a call, {100 * time.share:.0f} % of it"
    shown = "·" if taken < 0.05 else f"{taken:,.{1 if taken < 100 else 0}f}"
    return f'<s title="{about}" style="--w:{100 * time.share / longest:.0f}%">{shown}</s>'


def _bytes(size: str) -> str:
    return f"{size} bytes" if size.replace(",", "").isdigit() else size


def _short(size: int) -> str:
    """320 B, 2.4 kB; of a view, which has no memory of its own, that it is one."""
    value = float(size)
    for unit in ("B", "kB", "MB", "GB"):
        if value < 1000 or unit == "GB":
            break
        value /= 1000
    return f"{value:.3g} {unit}" if value else "view"


def _fact(fact: Fact) -> str:
    detail = f' title="{escape(fact.detail, quote=True)}"' if fact.detail else ""
    return f"<div{detail}><dt>{escape(fact.label)}</dt><dd>{escape(fact.value)}</dd></div>"


def _table(kept: Sequence[Kept]) -> str:
    if not kept:
        return ""
    head = "".join(f"<th>{each}</th>" for each in HEAD)
    rows = "".join(
        f"<tr><td><code>{escape(each.name)}</code></td><td>{escape(each.size)}</td>"
        f"<td>{escape(each.when)}</td><td>{escape(each.why)}</td></tr>"
        for each in kept
    )
    return (
        f"<details><summary>What the backward pass keeps, and why</summary>"
        f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table></details>"
    )


# ---- refusals ------------------------------------------------------------------------------------


def _caret(error: S2SError, numbers: dict[str, int]) -> str:
    """Where the caret stands: the line, its first column and the one after its last."""
    origin = error.origin
    if origin is None or origin.file not in numbers:
        return ""
    end = max(origin.end_column, origin.column + 1)
    return f' data-caret="{numbers[origin.file]}.{origin.line} {origin.column} {end}"'


def _refusal(error: S2SError) -> str:
    more = f"`s2s-ad help {error.code}`"
    rows = [("why", error.why), ("help", error.help), ("more", more)]
    said = "".join(f"<dt>{label}</dt><dd>{_inline(text)}</dd>" for label, text in rows if text)
    pointer = "" if error.origin is None else f"<pre>{escape(_pointer(error.origin))}</pre>"
    return (
        f'<div class="refused"><p><b>{escape(error.code)}</b></p><h2>{_inline(error.what)}</h2>'
        f"{pointer}<dl>{said}</dl></div>"
    )


def _pointer(origin: Origin) -> str:
    """The line with its caret; whose folder the file is in is nobody's business."""
    return replace(origin, file=basename(origin.file)).pointer()


# ---- code ----------------------------------------------------------------------------------------


def _pieces(pieces: Iterable[Piece], names: set[str]) -> str:
    """Coloured code; of the names those that belong to a family are elements of their own."""
    return "".join(_joined(pieces, names))


def _joined(pieces: Iterable[Piece], names: set[str]) -> Iterator[str]:
    for kind, text in pieces:
        if kind == colours.NAME:
            yield f"<b>{escape(text)}</b>" if text in names else escape(text)
        elif kind:
            yield f'<q class="{kind}">{escape(text)}</q>'
        else:
            yield escape(text)


def _inline(text: str) -> str:
    """Prose; what stands between backticks is code."""
    return re.sub(r"`([^`]+)`", r"<code>\1</code>", escape(text))


__all__ = ["document", "explorer", "fragment"]
