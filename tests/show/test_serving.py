"""The local page: who may ask, what is answered, and how long the user's code may run."""

from __future__ import annotations

import http.client
import json
import time

import pytest

from s2s_ad.cli import serving
from s2s_ad.cli.serving import Job, TooLong, Workers
from show.browser import chromium
from show.reading import code_of, panel, read

PROGRAM = """\
import numpy as np


def energy(x):
    return np.sum(np.sin(x))
"""
EXPRESSION, LIKE = "grad(energy)", "f64[3]"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    path = tmp_path_factory.mktemp("served") / "program.py"
    path.write_text(PROGRAM, encoding="utf-8")
    with serving.serving(Job(str(path), EXPRESSION, LIKE), 0, watched=True) as found:
        found.file = path
        yield found


def ask(site, path, method="GET", body=None, **headers):
    """(status, body, headers) of an answer; headers that are None are left out."""
    own = f"127.0.0.1:{site.port}"
    given = {"Host": own}
    if method == "POST":
        given |= {"Origin": f"http://{own}", "Content-Type": "application/json"}
    given |= {name.replace("_", "-"): value for name, value in headers.items()}
    connection = http.client.HTTPConnection("127.0.0.1", site.port, timeout=40)
    text = None if body is None else json.dumps(body)
    sent = {name: value for name, value in given.items() if value is not None}
    connection.request(method, path.replace("TOKEN", site.token), text, sent)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode(), answer.headers
    connection.close()
    return found


TRY = {"text": None, "expression": EXPRESSION, "like": LIKE}


@pytest.mark.parametrize(
    "path, method, headers",
    [
        ("/", "GET", {}),
        ("/" + "x" * 32 + "/", "GET", {}),
        ("/TOKEN/nothing", "GET", {}),
        ("/TOKEN/../program.py", "GET", {}),
        ("/TOKEN/source", "GET", {"Host": "example.org"}),
        ("/TOKEN/source", "GET", {"Host": "example.org:80"}),
        ("/TOKEN/source", "GET", {"Origin": "http://example.org"}),
        ("/TOKEN/source", "GET", {"Origin": "null"}),
        ("/TOKEN/source", "GET", {"Sec_Fetch_Site": "cross-site"}),
        ("/TOKEN/source", "GET", {"Sec_Fetch_Site": "same-site"}),
        ("/TOKEN/try", "GET", {}),
        ("/TOKEN/try", "POST", {"Origin": None}),
        ("/TOKEN/try", "POST", {"Origin": "http://localhost:1"}),
        ("/TOKEN/try", "POST", {"Host": "localhost.example.org"}),
        ("/TOKEN/try", "POST", {"Content_Type": "text/plain"}),
        ("/TOKEN/try", "POST", {"Content_Length": str(10**9)}),
        ("/" + "x" * 32 + "/try", "POST", {}),
    ],
)
def test_others_are_refused(site, path, method, headers):
    status, body, _ = ask(site, path, method, TRY if method == "POST" else None, **headers)
    assert status in (400, 403, 404)
    assert "energy" not in body


def test_it_is_bound_to_the_loopback_address(site):
    assert site.server_address[0] == "127.0.0.1"
    assert len(site.token) >= 32


def test_the_page_may_ask_for_the_file(site):
    status, body, headers = ask(site, "/TOKEN/source")
    assert (status, body) == (200, site.file.read_text())
    assert "default-src 'none'" in headers["Content-Security-Policy"]
    assert headers["Referrer-Policy"] == "no-referrer"


def test_what_is_written_is_tried(site):
    """Without a change of the file, and with what the user's code prints going nowhere."""
    text = PROGRAM.replace("np.sin(x)", "np.exp(x)") + "\nprint('hello')\n"
    status, body, _ = ask(site, "/TOKEN/try", "POST", {**TRY, "text": text})
    assert status == 200
    lines = [code_of(each) for each in panel(read(json.loads(body)["html"]), "grad").all(kind="l")]
    assert any("np.exp(x)" in line for line in lines)
    assert "np.sin" in site.file.read_text()


def test_a_change_of_the_file_is_told(site):
    before = site.version
    assert json.loads(ask(site, "/TOKEN/changes?after=0")[1]) == {"version": before}
    site.file.write_text(PROGRAM + "\n\n# more\n", encoding="utf-8")
    begun = time.monotonic()
    answer = json.loads(ask(site, f"/TOKEN/changes?after={before}")[1])
    assert answer == {"version": before + 1}
    assert time.monotonic() - begun < serving.LONGEST_WAIT / 2


@pytest.fixture
def workers():
    found = Workers()
    yield found
    found.close()


def job(tmp_path, text, expression=EXPRESSION):
    path = tmp_path / "program.py"
    path.write_text(text, encoding="utf-8")
    return Job(str(path), expression, LIKE)


@pytest.mark.slow
def test_a_loop_that_does_not_end_is_stopped(workers, tmp_path, monkeypatch):
    monkeypatch.setattr(serving, "SECONDS", 4.0)
    begun = time.monotonic()
    with pytest.raises(TooLong, match="stopped after 4 seconds"):
        workers.made(job(tmp_path, "while True:\n    pass\n"))
    assert time.monotonic() - begun < 10
    assert "energy_grad" in workers.made(job(tmp_path, PROGRAM))["html"]


@pytest.mark.slow
@pytest.mark.parametrize(
    "text, expression, said, line",
    [
        ("import numpy as np\nbig = np.zeros(5 * 10**8)\n", "grad(energy)", "MemoryError", 2),
        ("def energy(x):\n    return (x\n", "grad(energy)", "SyntaxError", 2),
        ("import nothing_of_that_name\n", "grad(energy)", "ModuleNotFoundError", 1),
        (PROGRAM, "grad(enrgy)", "NameError", None),
        (PROGRAM, "3", "has to give a function", None),
        ("raise SystemExit(3)\n", "grad(energy)", "SystemExit", 1),
    ],
)
def test_what_fails_is_a_page_too(workers, tmp_path, text, expression, said, line):
    made = read(workers.made(job(tmp_path, text, expression))["html"])
    (refused,) = made.all(kind="refused")
    assert said in refused.text
    carets = [
        each.attributes["data-caret"]
        for each in made.all("section")
        if "data-caret" in each.attributes
    ]
    assert [each.split()[0] for each in carets] == ([] if line is None else [f"0.{line}"])


@pytest.mark.slow
def test_the_page_follows_the_file_and_the_editor(tmp_path):
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.keys import Keys
    from selenium.webdriver.support.ui import WebDriverWait

    asked = job(tmp_path, PROGRAM)
    made = """return [...document.querySelectorAll(".made section:not([hidden]) .l code")]
        .map((each) => each.textContent).join("\\n")"""

    def shows(text):
        WebDriverWait(window, 20).until(lambda window: text in window.execute_script(made))

    with serving.serving(asked, 0, watched=True) as site, chromium() as window:
        window.get(site.address)
        shows("np.cos(x)")
        (tmp_path / "program.py").write_text(PROGRAM.replace("np.sin", "np.exp"), encoding="utf-8")
        shows("np.exp(x)")
        window.find_element("css selector", "[name=edit]").click()
        WebDriverWait(window, 20).until(lambda w: w.find_elements("css selector", ".cm-line"))
        (line,) = [
            each
            for each in window.find_elements("css selector", ".cm-line")
            if "return" in each.text
        ]
        line.click()
        ActionChains(window).send_keys(Keys.END, " + np.sum(x**2)").perform()
        shows("2.0 * x")
        lit = (
            'return [...document.querySelectorAll(".cm-line.on")].map((e) => e.textContent.trim())'
        )
        assert window.execute_script(lit) == ["return np.sum(np.exp(x)) + np.sum(x**2)"]
        ActionChains(window).send_keys(" + (").perform()
        refused = 'return (document.querySelector(".refused") || {}).textContent || ""'
        WebDriverWait(window, 20).until(lambda w: "SyntaxError" in w.execute_script(refused))
        assert "np.exp" in (tmp_path / "program.py").read_text()
