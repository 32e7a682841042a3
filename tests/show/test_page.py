"""The page of the explorer: what is in it, and that it is all there and nothing else."""

from __future__ import annotations

import inspect
import linecache
import re
from html import unescape

import numpy as np
import pytest

from s2s_ad import grad, hessian, jit, nn, value_and_grad, vmap
from s2s_ad.api import function as compiling
from s2s_ad.api.pages import page
from s2s_ad.show import colours
from s2s_ad.show.html import document
from show.hundred import hundred
from show.reading import code_of, panel, read


def energy(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u**2)


def cell(h, x):
    z = np.tanh(h * x)
    return z * h


def recurrent(h, xs):
    for x in xs:
        h = cell(h, x)
    return np.sum(h)


def refused(x):
    y = np.sin(x)
    return np.sum(np.partition(y, 1) ** float(open("number").read()))


def outside(x):
    note = "</script><b>&amp;"
    return np.sum(x**2) if note else x


HEAT = np.ones(9), 0.1, 5
FIRST = inspect.getsourcelines(energy)[1]
STENCIL = FIRST + 3  # the line of the loop's body


def shown(transformed, *args, **kwargs):
    return read(document(page(transformed, args, kwargs)))


@pytest.fixture(scope="module")
def heat():
    return shown(grad(energy, (0, 1)), *HEAT)


def test_each_line_leads_to_the_line_that_it_comes_from(heat):
    yours = {
        each.attributes["data-i"]: code_of(each)
        for each in heat.all(kind="l")
        if "data-i" in each.attributes
    }
    assert yours[f"0.{STENCIL}"].strip() == "u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])"
    made = panel(heat, "grad").all(kind="l")
    here = [
        each for each in made if each.attributes.get("data-k", "").split()[:1] == [f"0.{STENCIL}"]
    ]
    phases = [("f" if "f" in each.classes else "b", code_of(each).strip()) for each in here]
    assert ("f", "u[1:-1] += k * u_difference") in phases
    assert ("b", "k_bar += u_bar[1:-1] @ u_difference") in phases
    assert sum(phase == "b" for phase, _ in phases) == 5  # of three terms and two factors
    for each in made:
        assert set(each.attributes.get("data-k", "").split()) <= yours.keys()


def test_a_line_leads_to_the_expression_that_it_comes_from(heat):
    line = linecache.getline(__file__, STENCIL)
    found = {}
    for each in panel(heat, "grad").all(kind="l"):
        if "data-c" in each.attributes and code_of(each).strip().startswith("u_bar["):
            first, last = map(int, each.attributes["data-c"].split())
            found[code_of(each).strip()] = line[first:last]
    assert found == {
        "u_bar[:-2] += u_difference_bar": "u[:-2]",
        "u_bar[1:-1] -= 2 * u_difference_bar": "u[1:-1]",
        "u_bar[2:] += u_difference_bar": "u[2:]",
    }


def test_the_code_is_the_text_that_runs(heat):
    lines = panel(heat, "grad").one(kind="code").all(kind="l")
    assert "\n".join(map(code_of, lines)) + "\n" == grad(energy, (0, 1)).source(*HEAT)


def test_the_gutter_says_what_is_kept_and_why(heat):
    (kept,) = [
        each.one("em") for each in panel(heat, "grad").all(kind="l") if "append" in code_of(each)
    ]
    bytes_of_all = 5 * 7 * 8  # passes, elements that the stencil reaches, bytes of each
    assert kept.text == f"{bytes_of_all} B"
    assert "would have to be kept instead" in kept.attributes["title"]
    total = bytes_of_all + 9 * 8  # the last field, of which the adjoint is made
    facts = {
        each.one("dt").text: each.one("dd").text
        for each in panel(heat, "grad").all("dl", "facts")[0].all("div")
    }
    assert facts["kept"] == f"{total} bytes"


def test_values_that_are_kept_together_are_told_where_they_are_put():
    """Two values a pass, each of three numbers: `h` before the cell, and its tanh."""
    made = panel(shown(grad(recurrent), np.ones(3), np.ones(4)), "grad")
    (append,) = [each for each in made.all(kind="l") if ".append(" in code_of(each)]
    assert append.one("em").text == f"{4 * 2 * 3 * 8} B"


def test_names_belong_to_the_users(heat):
    names = dict(
        each.split(":") if ":" in each else (each, each)
        for each in panel(heat, "grad").attributes["data-names"].split()
    )
    assert names["u_bar"] == names["u"] == "u"
    assert names["k_bar"] == "k"
    assert names["u_difference_saved"] == "u_difference"


@pytest.mark.parametrize(
    "transformed, args, selected, tabs",
    [
        (jit(energy), HEAT, "primal", {"grad", "jvp", "vmap(grad)", "Hessian · vector", "Core"}),
        (value_and_grad(energy), HEAT, "value_and_grad", {"primal", "jvp"}),
        (hessian(cell), (np.ones(3), 2.0), "jacfwd(jacrev)", {"primal", "grad"}),
        (vmap(grad(cell), (None, 0)), (2.0, np.ones(3)), "vmap(grad)", {"primal", "grad", "jvp"}),
    ],
)
def test_tabs(transformed, args, selected, tabs):
    made = page(transformed, args, {})
    assert made.shown.label == selected
    assert tabs <= {each.label for each in made.panels}
    assert not [each.refused for each in made.panels if each.refused]


def test_the_tabs_hold_the_texts_of_those_transforms(heat):
    per_sample = vmap(grad(energy, (0, 1)), (0, 0, None))
    arguments = np.ones((3, 9)), np.full(3, 0.1), 5
    lines = panel(heat, "vmap(grad)").one(kind="code").all(kind="l")
    assert "\n".join(map(code_of, lines)) + "\n" == per_sample.source(*arguments)


@pytest.mark.slow
def test_native_loops_are_shown_where_a_jit_asks_for_them(heat, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setenv("S2S_AD_NATIVE", "1")
    made = panel(shown(jit(grad(energy)), *HEAT), "native")
    assert any("njit" in code_of(each) for each in made.all(kind="l"))
    assert "native" not in [each.text for each in heat.all("button", role="tab")]


def doubled(u):
    v = np.sin(u)
    return v * v


def through_helpers(u, k):
    if k > 1:
        u = doubled(u)
    return np.sum(doubled(u) * k)


@pytest.mark.thinned(3)
@pytest.mark.parametrize(
    "made, args",
    [
        (grad(energy), HEAT),
        (grad(through_helpers, (0, 1)), (np.ones(9), 2.0)),
        (vmap(grad(through_helpers), in_axes=(0, None)), (np.ones((4, 9)), 2.0)),
    ],
)
def test_a_native_line_says_where_it_comes_from(made, args, monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setenv("S2S_AD_NATIVE", "1")
    native = next(each for each in page(jit(made), args, {}).panels if each.key == "native")
    file = energy.__code__.co_filename
    first = next(k for k, each in enumerate(native.lines) if each.places)
    last = max(k for k, each in enumerate(native.lines) if each.places)
    for each in native.lines[first : last + 1]:
        line = each.text.strip()
        if line and not line.startswith(("#", "@", "def ", '"""', "return")):
            assert each.places, line
            assert each.phase in ("forward", "backward"), line
        assert all(file == place[0] for place in each.places)
    noted = [each for each in native.lines if "  # line " in each.text]
    for each in noted:
        assert str(each.places[0][1]) == each.text.rpartition("# line ")[2]
    assert len(noted) > 4


def test_helpers_have_lines_of_both_sides():
    made = shown(grad(recurrent), 2.0, np.ones(4))
    first = inspect.getsourcelines(cell)[1]
    here = [
        code_of(each)
        for each in panel(made, "grad").all(kind="l")
        if each.attributes.get("data-k", "").startswith(f"0.{first + 1}")
    ]
    assert any("np.tanh(" in each for each in here)
    assert any("** 2" in each or "**2" in each for each in here)


def test_layers_of_ours_stand_for_the_line_that_calls_them():
    dense = nn.Dense(3, 2)

    def forward(x):
        return dense(x).sum()

    made = shown(grad(forward), np.ones((2, 3), np.float32))
    assert [each.text for each in made.one(kind="yours").all("h2")] == ["test_page.py"]


def test_a_refusal_is_the_same_page_with_the_caret():
    made = shown(grad(refused), np.ones(3))
    here = panel(made, "grad")
    line, first, last = here.attributes["data-caret"].split()
    source = linecache.getline(__file__, int(line.removeprefix("0.")))
    assert source[int(first) : int(last)].startswith("open(")
    assert "help" in [each.text for each in here.all("dt")]
    assert "S2S" in here.one(kind="refused").text


def test_a_call_that_does_not_fit_is_told_beside_the_file():
    made = shown(grad(energy))
    assert made.one(kind="yours").one("h2").text == "test_page.py"
    assert "missing" in made.one(kind="refused").text


def test_of_a_long_file_the_functions_that_matter_are_shown(tmp_path):
    """A helper, and the function, with marks where lines were left out."""
    filler = "".join(f"def other_{i}(x):\n    return x\n\n\n" for i in range(60))
    parts = ["import numpy as np", "def sine(x):\n    return np.sin(x)", filler]
    text = "\n\n\n".join([*parts, "def total(x):\n    y = sine(x)\n    return y * y", filler])
    path = tmp_path / "long.py"
    path.write_text(text, encoding="utf-8")
    space: dict = {}
    exec(compile(text, str(path), "exec"), space)
    made = shown(grad(space["total"]), 2.0).one(kind="yours")
    codes = [code_of(each) for each in made.all(kind="l")]
    assert codes[:2] == ["def sine(x):", "    return np.sin(x)"]
    assert codes[-3:] == ["def total(x):", "    y = sine(x)", "    return y * y"]
    assert len(made.all(kind="gap")) == 3


def test_a_batch_without_a_batched_form_is_a_note_and_no_warning(recwarn):
    """`np.unique` has results of another length for each sample."""

    def distinct(w, x):
        return np.sum(w * np.sum(np.unique(x)))

    made = page(grad(distinct), (2.0, np.ones(3)), {})
    notes = {each.key: [f.value for f in each.facts if f.label == "note"] for each in made.panels}
    assert any("a loop over samples" in note for note in notes["vmap"])
    assert not notes["grad"]
    assert not recwarn.list


def test_text_is_no_markup():
    text = document(page(grad(outside), (np.ones(3),), {}))
    assert '</script><b>&amp;"' in read(text).one(kind="yours").text
    assert text.count("</script>") == 1


def test_nothing_is_from_outside():
    text = document(page(grad(energy), HEAT, {}))
    assert "default-src 'none'" in unescape(text)
    outside = (
        r"""(?:src|href|action)\s*=|url\(|@import|https?://(?!www\.w3\.org/2000/svg)|\bfetch\("""
    )
    assert not re.findall(outside, text)


@pytest.mark.slow
def test_the_page_of_a_hundred_statements_is_small(tmp_path):
    space: dict = {}
    file = str(tmp_path / "layers.py")
    (tmp_path / "layers.py").write_text(hundred(), encoding="utf-8")
    exec(compile(hundred(), file, "exec"), space)
    made = page(grad(space["layers"], (0, 1)), (np.ones(9), np.ones(25)), {})
    facts = {each.label: each.value for each in made.shown.facts}
    assert int(facts["statements"]) >= 100
    assert len(document(made).encode()) < 150_000


def test_a_notebook_shows_what_was_compiled_and_compiles_nothing(monkeypatch):
    derivative = grad(lambda x: np.sum(x * x))
    derivative(np.ones(3))
    monkeypatch.setattr(compiling, "write", None)
    made = read(derivative._repr_html_())
    assert [each.text for each in made.all("button", role="tab")] == ["grad"]
    assert "return 2 * x" in made.one(kind="made").text


def test_show_writes_a_file_and_opens_a_browser_only_without_one(tmp_path, monkeypatch):
    opened = []
    monkeypatch.setattr("webbrowser.open", opened.append)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    path = tmp_path / "page.html"
    made = grad(energy).show(*HEAT, path=path)
    assert path.read_text(encoding="utf-8") == made.html
    assert not opened
    grad(energy).show(*HEAT)
    assert [each.startswith("file:") for each in opened] == [True]


@pytest.mark.parametrize(
    "line, kinds",
    [
        ("def f(x, y=2.0):  # why", {"def": "k", "f": "d", "2.0": "n", "# why": "c", "x": "b"}),
        ('    return f"{x!r}" + np.sin', {"return": "k", "np": "b"}),
        ("if x is None:", {"if": "k", "is": "k", "None": "k"}),
        ("    broken = (", {"broken": "b"}),
    ],
)
def test_colours(line, kinds):
    (pieces,) = colours.python([line])
    assert "".join(text for _, text in pieces) == line
    assert kinds.items() <= {text: kind for kind, text in pieces}.items()
