"""The page in a real browser: what lights what, by mouse and by keyboard, in light and dark."""

from __future__ import annotations

import inspect

import numpy as np
import pytest

from s2s_ad import grad
from s2s_ad.api.pages import page
from s2s_ad.show.html import document
from show.browser import chromium
from show.hundred import hundred

selenium = pytest.importorskip("selenium", reason="needs selenium (the extra browser)")
from selenium.webdriver.support.ui import WebDriverWait  # noqa: E402

pytestmark = pytest.mark.slow


def energy(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def refused(x):
    return np.sum(x) * float(open("number").read())


FIRST = inspect.getsourcelines(energy)[1]
HEAT = np.ones(9), 0.1, 5

LIT = """return [...document.querySelectorAll(arguments[0])].map(
    (each) => [each.querySelector("code").textContent.trim(),
               ["f", "b", "t"].find((c) => each.classList.contains(c)) || ""])"""


def written(tmp_path, transformed, *args):
    path = tmp_path / "page.html"
    path.write_text(document(page(transformed, args, {})), encoding="utf-8")
    return path.as_uri()


def hover(window, line, side="yours"):
    """Move the mouse over the line with this code."""
    from selenium.webdriver import ActionChains

    element = window.execute_script(
        """return [...document.querySelectorAll(`.${arguments[0]} section:not([hidden]) .l`)].find(
            (each) => each.querySelector("code").textContent.includes(arguments[1]))""",
        side,
        line,
    )
    code = element.find_element("css selector", "code")
    ActionChains(window).move_to_element(code).perform()


def lit(window, side):
    return window.execute_script(LIT, f".{side} section:not([hidden]) .on")


def keys(window, *names):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys

    for each in names:
        ActionChains(window).send_keys(getattr(Keys, each, each)).perform()


@pytest.fixture(scope="module")
def window():
    with chromium() as found:
        yield found


@pytest.fixture
def heat(window, tmp_path):
    window.get(written(tmp_path, grad(energy, (0, 1)), *HEAT))
    return window


def test_hovering_lights_all_lines_of_one_origin(heat):
    hover(heat, "u[1:-1] += k *")
    made = lit(heat, "made")
    assert [phase for _, phase in made] == ["f"] * 3 + [
        "b"
    ] * 6  # one takes what it needs off a list
    assert ["k_bar += u_bar[1:-1] @ u_difference", "b"] in made
    hover(heat, "return np.sum")
    assert [text for text, _ in lit(heat, "made")] == ["u_bar = 2.0 * u  # line " + str(FIRST + 4)]
    assert [text for text, _ in lit(heat, "yours")] == ["return np.sum(u**2)"]


def test_hovering_a_generated_line_lights_the_users(heat):
    hover(heat, "k_bar += ", "made")
    assert [text for text, _ in lit(heat, "yours")] == [
        "u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])"
    ]
    marked = 'return [...CSS.highlights.get("s2s-here")].map(String)'
    assert heat.execute_script(marked) == ["k * (u[2:] - 2 * u[1:-1] + u[:-2])"]
    colours = heat.execute_script(
        """return ["f", "b"].map((each) => getComputedStyle(
            document.querySelector(`.made .on.${each}`)).backgroundColor)"""
    )
    assert len(set(colours)) == 2
    bands = heat.execute_script(
        'return [...document.querySelectorAll(".links path")].map((p) => p.getAttribute("class"))'
    )
    assert bands == ["f", "b"]


def test_a_click_pins(heat):
    from selenium.webdriver import ActionChains

    hover(heat, "return np.sum")
    ActionChains(heat).click().perform()
    hover(heat, "u[1:-1] += k *")
    assert [text for text, _ in lit(heat, "yours")] == ["return np.sum(u**2)"]
    keys(heat, "ESCAPE")
    assert lit(heat, "yours") == []
    hover(heat, "u = u.copy()")
    assert [text for text, _ in lit(heat, "yours")] == ["u = u.copy()"]


def test_a_pinned_line_has_an_address(heat):
    from selenium.webdriver import ActionChains

    hover(heat, "k_bar += ", "made")
    ActionChains(heat).click().perform()
    address = heat.execute_script("return location.href")
    number = int(address.partition("#grad:")[2])
    text = grad(energy, (0, 1)).source(*HEAT).split("\n")
    assert text[number - 1].strip().startswith("k_bar += ")
    heat.get("about:blank")
    heat.get(address.replace("#grad:", "#primal:").replace(str(number), "6"))
    WebDriverWait(heat, 10).until(lambda window: lit(window, "made"))
    assert heat.execute_script('return document.querySelector(".at").textContent')[0] == "6"
    assert heat.execute_script('return document.querySelector(".pinned") !== null')


def test_a_name_lights_its_adjoint(heat):
    heat.execute_script(
        """const line = [...document.querySelectorAll(".yours .l")].find(
            (each) => each.textContent.includes("u[1:-1] += k"));
        [...line.querySelectorAll("b")].find((each) => each.textContent === "k")
            .dispatchEvent(new MouseEvent("mouseover", {bubbles: true}))"""
    )
    same = heat.execute_script(
        'return [...new Set([...document.querySelectorAll("b.same")].map((b) => b.textContent))]'
    )
    assert set(same) == {"k", "k_bar"}


def test_the_keyboard_goes_everywhere(heat):
    heat.execute_script('document.querySelector(".yours .code").focus()')
    keys(heat, "ARROW_DOWN")
    assert [text for text, _ in lit(heat, "yours")] == ["return np.sum(u**2)"]
    keys(heat, "ARROW_RIGHT")
    active = "return document.activeElement.getAttribute('aria-activedescendant')"
    line = heat.execute_script(
        f"{active.replace('return', 'return document.getElementById(')})" + ".textContent"
    )
    assert "u_bar = 2.0 * u" in line
    keys(heat, "n")
    assert heat.execute_script('return document.querySelectorAll("b.same").length') > 2
    status = heat.execute_script('return document.querySelector("[role=status]").textContent')
    assert "u_bar" in status
    heat.execute_script('document.querySelector("[role=tab][aria-selected=true]").focus()')
    keys(heat, "ARROW_RIGHT")
    label = 'return document.querySelector("[role=tab][aria-selected=true]").textContent'
    WebDriverWait(heat, 10).until(lambda window: window.execute_script(label) == "jvp")
    hover(heat, "u[1:-1] += k *")
    assert {phase for _, phase in lit(heat, "made")} == {"f", "t"}


def test_every_element_of_the_lists_has_its_role(heat):
    bad = heat.execute_script(
        """return [...document.querySelectorAll("[role=listbox]")].filter((list) =>
            !list.getAttribute("aria-label") || [...list.querySelectorAll(".l")].some(
                (line) => line.getAttribute("role") !== "option" || !line.id)).length"""
    )
    assert bad == 0
    ids = 'return [...document.querySelectorAll("[id]")].map((each) => each.id)'
    found = heat.execute_script(ids)
    assert len(found) == len(set(found))


def test_a_refusal_shows_the_caret(window, tmp_path):
    window.get(written(tmp_path, grad(refused), np.ones(3)))
    lines = window.execute_script(
        """const caret = document.querySelector(".yours .caret"),
                 line = caret.previousElementSibling, code = (e) => e.querySelector("code");
           const at = code(caret).textContent.indexOf("^");
           return [code(line).textContent.slice(at), line.className, code(caret).textContent]"""
    )
    assert lines[0].startswith("open(")
    assert "bad" in lines[1]


def test_a_large_page_is_drawn_at_once(window, tmp_path):
    space: dict = {}
    file = str(tmp_path / "layers.py")
    (tmp_path / "layers.py").write_text(hundred(), encoding="utf-8")
    exec(compile(hundred(), file, "exec"), space)
    url = written(tmp_path, grad(space["layers"], (0, 1)), np.ones(9), np.ones(25))
    # Of the processor's time, which does not count what else runs on the machine.
    window.execute_cdp_cmd("Performance.enable", {"timeDomain": "threadTicks"})
    times = []
    for _ in range(3):
        window.get("about:blank")
        before = busy(window)
        window.get(url)
        shown = "return document.querySelectorAll('.made section:not([hidden]) .l.on').length"
        assert window.execute_script(shown) > 0
        times.append(busy(window) - before)
        fetched = 'return performance.getEntriesByType("resource").length'
        assert window.execute_script(fetched) == 0
    assert 0.001 < min(times) < 0.3


def busy(window):
    """The seconds that the page's thread has been at work."""
    metrics = window.execute_cdp_cmd("Performance.getMetrics", {})["metrics"]
    return next(each["value"] for each in metrics if each["name"] == "TaskDuration")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1360, 390])
def test_screens(tmp_path, scheme, width):
    """Both schemes are legible: all text has a contrast of at least 4.5 with its ground."""
    with chromium(width, 760, scheme=scheme) as window:
        window.get(written(tmp_path, grad(energy, (0, 1)), *HEAT))
        window.save_screenshot(str(tmp_path / f"{scheme}-{width}.png"))
        ground = window.execute_script(
            'return getComputedStyle(document.querySelector(".made")).backgroundColor'
        )
        assert (luminance(ground) > 0.5) == (scheme == "light")
        for css in (".made .l code", ".k", ".n", ".c", ".title p", ".facts dt", "em", "h2"):
            colour = window.execute_script(
                f"return getComputedStyle(document.querySelector('{css}')).color"
            )
            assert contrast(colour, ground) >= 4.5, css
        wide = window.execute_script(
            "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
        )
        assert wide <= 0


def luminance(colour):
    """Of `rgb(r, g, b)`, as the guidelines for accessible content define it."""
    numbers = [float(each) / 255 for each in colour[colour.index("(") + 1 : -1].split(",")[:3]]
    linear = [n / 12.92 if n <= 0.04045 else ((n + 0.055) / 1.055) ** 2.4 for n in numbers]
    return float(np.dot([0.2126, 0.7152, 0.0722], linear))


def contrast(one, other):
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_in_a_notebook_a_gradient_is_shown_beside_the_cell(window, tmp_path):
    nbclient, nbformat = pytest.importorskip("nbclient"), pytest.importorskip("nbformat")
    pytest.importorskip("ipykernel")
    cells = [
        "import numpy as np\nfrom s2s_ad import grad\n\ndef loss(x):\n    return np.sum(np.sin(x))",
        "g = grad(loss)\ng(np.ones(3))\ng",
        "g.show(np.ones(3))",
    ]
    book = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(each) for each in cells])
    nbclient.NotebookClient(book, timeout=60, kernel_name="python3").execute()
    shown = [cell.outputs[-1].data["text/html"] for cell in book.cells[1:]]
    path = tmp_path / "notebook.html"
    path.write_text(f"<!doctype html><meta charset='utf-8'>{''.join(shown)}", encoding="utf-8")
    window.get(path.as_uri())
    lines = """return [...document.querySelectorAll(".s2s")].map((root) =>
        [...root.querySelectorAll(".on code")].map((each) => each.textContent.trim()))"""
    latest, page = window.execute_script(lines)
    assert latest == page == ["return np.sum(np.sin(x))", "x_bar = np.cos(x)  # line 5"]
    labels = 'return [...document.querySelectorAll(".yours h2")].map((each) => each.textContent)'
    assert window.execute_script(labels) == ["cell 1", "cell 1"]
    tabs = """return [...document.querySelectorAll(".s2s")].map(
        (root) => root.querySelectorAll("[role=tab]").length)"""
    assert window.execute_script(tabs)[0] == 1
