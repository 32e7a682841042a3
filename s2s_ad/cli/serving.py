"""A local page that follows a file while it is edited, and tries what is written in its editor.

It is bound to the loopback address. Whoever asks has to know the token in the address, and to ask
from this very page: other hosts and origins are refused. The user's code runs in processes of their
own (`cli/worker.py`).
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

from s2s_ad.show.html import asset

HOST = "127.0.0.1"
SECONDS = 30.0  # that a page may take
LARGEST = 1 << 20  # bytes of a request
LONGEST_WAIT = 20.0  # seconds that a question for changes is left open
INTERVAL = 0.3  # seconds between looks at the file
AT_ONCE = 2  # pages that are made at one time
BUSY = '<span class="busy" aria-hidden="true">…</span>'


@dataclass(frozen=True)
class Job:
    """What is shown: the file, the function in it, and what it is called with."""

    target: str
    expression: str
    like: str = ""
    args: str | None = None
    time: bool = False


class TooLong(Exception):
    """A page that is not finished in time, or whose process ended without one."""


class Workers:
    """Makes pages, each in a process of its own; one that has begun waits for the next job."""

    def __init__(self) -> None:
        self.folder = tempfile.mkdtemp(prefix="s2s_ad_show_")
        self._free = threading.Semaphore(AT_ONCE)
        self._lock = threading.Lock()
        self._waiting: subprocess.Popen | None = _begun()

    def made(self, job: Job, text: str | None = None) -> dict[str, Any]:
        """The answer of a worker; `text` stands in for what is in the file."""
        with self._free:
            process = self._next()
            request = {**vars(job), "text": text, "folder": self.folder}
            try:
                answer, errors = process.communicate(json.dumps(request), timeout=SECONDS)
            except subprocess.TimeoutExpired:
                raise TooLong(f"it was stopped after {SECONDS:.0f} seconds") from None
            finally:
                _end(process)
        if process.returncode:
            raise TooLong(_how_it_ended(process.returncode, errors))
        return json.loads(answer)

    def _next(self) -> subprocess.Popen:
        with self._lock:
            process, self._waiting = self._waiting or _begun(), _begun()
        return process

    def close(self) -> None:
        with self._lock:
            if self._waiting is not None:
                _end(self._waiting)
            self._waiting = None
        shutil.rmtree(self.folder, ignore_errors=True)


def _begun() -> subprocess.Popen:
    single = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
    return subprocess.Popen(
        [sys.executable, "-m", "s2s_ad.cli.worker"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env={**os.environ, **single, "PYTHONDONTWRITEBYTECODE": "1"},
        encoding="utf-8",
        start_new_session=True,
    )


def _end(process: subprocess.Popen) -> None:
    """End the process, and what it has started."""
    with contextlib.suppress(ProcessLookupError, PermissionError):
        if hasattr(os, "killpg"):
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    for stream in (process.stdin, process.stdout, process.stderr):
        with contextlib.suppress(OSError, ValueError):
            stream.close()
    process.wait()


def _how_it_ended(status: int, errors: str) -> str:
    ended = {-getattr(signal, name, 0) for name in ("SIGKILL", "SIGXCPU")} - {0}  # of POSIX
    if status in ended:
        return "it was stopped: it took too much time"
    last = errors.strip().split("\n")[-1]
    return f"it was stopped: {last}" if last else f"it ended with status {status}"


# ---- the server ----------------------------------------------------------------------------------


class Site(ThreadingHTTPServer):
    """The server of one page, at a free port where `port` is 0."""

    daemon_threads = True
    allow_reuse_address = True

    def __init__(self, job: Job, port: int, *, watched: bool):
        super().__init__((HOST, port), Handler)
        self.job, self.port, self.watched = job, self.server_address[1], watched
        self.token = secrets.token_urlsafe(24)
        self.workers = Workers()
        self.version, self.changed = 1, threading.Condition()
        self.stopped = threading.Event()
        if watched:
            threading.Thread(target=self._watch, daemon=True).start()

    @property
    def address(self) -> str:
        return f"http://{HOST}:{self.port}/{self.token}/"

    @property
    def hosts(self) -> set[str]:
        return {f"{HOST}:{self.port}", f"localhost:{self.port}"}

    def _watch(self) -> None:
        """Notice that the file is another one."""
        before = _stamp(self.job.target)
        while not self.stopped.wait(INTERVAL):
            now = _stamp(self.job.target)
            if now != before and now is not None:
                before = now
                with self.changed:
                    self.version += 1
                    self.changed.notify_all()

    def server_close(self) -> None:
        self.stopped.set()
        with self.changed:
            self.changed.notify_all()
        super().server_close()
        self.workers.close()


def _stamp(path: str) -> tuple[int, int] | None:
    try:
        status = os.stat(path)
    except OSError:
        return None  # an editor is about to write it
    return status.st_mtime_ns, status.st_size


class Handler(BaseHTTPRequestHandler):
    """Answers questions that come from the page itself, and no others."""

    server: Site
    server_version = "s2s-ad"
    sys_version = ""
    protocol_version = "HTTP/1.1"
    timeout = 60

    def do_GET(self) -> None:
        path = self._path()
        if path == "":
            self._page()
        elif path == "source":
            text = Path(self.server.job.target).read_text(encoding="utf-8")
            self._answer(text.encode(), "text/plain; charset=utf-8")
        elif path == "changes":
            self._changes()

    def do_POST(self) -> None:
        if self._path(posted=True) == "try":
            self._try()

    # ---- who may ask

    def _path(self, *, posted: bool = False) -> str | None:
        """What is asked for, behind the token; None where it was refused."""
        if self.headers.get("Host", "") not in self.server.hosts:
            return self._refuse(HTTPStatus.FORBIDDEN, "this is another host")
        origin = self.headers.get("Origin")
        own = {f"http://{host}" for host in self.server.hosts}
        if (origin is not None or posted) and origin not in own:
            return self._refuse(HTTPStatus.FORBIDDEN, "this is another origin")
        if self.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin"):
            return self._refuse(HTTPStatus.FORBIDDEN, "this is another origin")
        _, token, *rest = (*urlsplit(self.path).path.split("/"), "")[:4]
        if not secrets.compare_digest(token.encode(), self.server.token.encode()):
            return self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
        path = rest[0] if rest else ""
        known = ("try",) if posted else ("", "source", "changes")
        if path not in known:
            return self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")
        return path

    def _refuse(self, status: HTTPStatus, why: str) -> None:
        self.close_connection = True
        self._answer(why.encode(), "text/plain; charset=utf-8", status)

    # ---- answers

    def _page(self) -> None:
        nonce = secrets.token_urlsafe(16)
        html = document(self.server, nonce)
        self._answer(html.encode(), "text/html; charset=utf-8", nonce=nonce)

    def _changes(self) -> None:
        """Wait until there is another version than the page has."""
        asked = parse_qs(urlsplit(self.path).query).get("after", ["0"])[0]
        server = self.server
        with server.changed:
            server.changed.wait_for(
                lambda: str(server.version) != asked or server.stopped.is_set(), LONGEST_WAIT
            )
            self._json({"version": server.version})

    def _try(self) -> None:
        length = self.headers.get("Content-Length", "")
        kind = self.headers.get_content_type()
        if not length.isdigit() or int(length) > LARGEST or kind != "application/json":
            return self._refuse(HTTPStatus.BAD_REQUEST, "this is no question of the page")
        try:
            asked = json.loads(self.rfile.read(int(length)))
            texts = [asked["expression"], asked["like"], asked["text"] or ""]
        except (ValueError, LookupError, TypeError):
            return self._refuse(HTTPStatus.BAD_REQUEST, "this is no question of the page")
        if not all(isinstance(each, str) for each in texts):
            return self._refuse(HTTPStatus.BAD_REQUEST, "this is no question of the page")
        own = self.server.job
        args = own.args if texts[1] == own.like else None
        job = Job(own.target, texts[0], texts[1], args, own.time)
        try:
            self._json(self.server.workers.made(job, asked["text"]))
        except TooLong as error:
            self._answer(str(error).encode(), "text/plain", HTTPStatus.SERVICE_UNAVAILABLE)
        return None

    def _json(self, value: Any) -> None:
        self._answer(json.dumps(value).encode(), "application/json")

    def _answer(
        self, body: bytes, kind: str, status: HTTPStatus = HTTPStatus.OK, nonce: str = ""
    ) -> None:
        scripts = f"'nonce-{nonce}'" if nonce else "'none'"
        policy = (
            f"default-src 'none'; script-src {scripts}; style-src 'unsafe-inline'; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            "Content-Security-Policy": policy,
            "Cache-Control": "no-store",
            "Referrer-Policy": "no-referrer",
            "X-Content-Type-Options": "nosniff",
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cross-Origin-Opener-Policy": "same-origin",
        }
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(ConnectionError):
            self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing: the address has the token in it."""


# ---- the page ------------------------------------------------------------------------------------


def document(site: Site, nonce: str) -> str:
    """The page with its editor, made anew."""
    job = site.job
    try:
        body = site.workers.made(job)["html"]
    except TooLong as error:
        return f"<!doctype html><title>s2s-ad</title><p>{escape(str(error))}</p>"
    ask = (
        '<form class="ask"><label>function <input type="text" name="expression" spellcheck="false" '
        f'value="{escape(job.expression, quote=True)}"></label>'
        '<label>arguments <input type="text" name="like" spellcheck="false" '
        f'value="{escape(job.like, quote=True)}"></label>'
        f'<button type="button" name="edit" aria-pressed="false">Edit</button>{BUSY}</form>'
    )
    tabs = '<div class="tabs"'
    body = body.replace("s2s-id", "s2s-page").replace(tabs, ask + tabs, 1)
    styles = "".join(
        f"<style>{each}</style>" for each in (asset("explorer.css"), _own("serve.css"))
    )
    scripts = (asset("explorer.js"), _own("editor.js"), _own("serve.js"))
    watch = f' data-watch="{site.version}"' if site.watched else ""
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(Path(job.target).name)} · s2s_ad</title>\n<style>body{{margin:0}}</style>"
        f"{styles}\n</head>\n<body{watch}>\n{body}\n"
        + "".join(f'<script nonce="{nonce}">{_safe(each)}</script>\n' for each in scripts)
        + "</body>\n</html>\n"
    )


def _own(name: str) -> str:
    return files("s2s_ad.cli").joinpath("assets", name).read_text(encoding="utf-8")


def _safe(script: str) -> str:
    """A script with nothing in it that would end its element."""
    return re.sub(r"</(script)", r"<\\/\1", script, flags=re.IGNORECASE)


@contextlib.contextmanager
def serving(job: Job, port: int, *, watched: bool) -> Iterator[Site]:
    """The server, which answers until the context ends."""
    site = Site(job, port, watched=watched)
    thread = threading.Thread(target=site.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield site
    finally:
        site.shutdown()
        site.server_close()
        thread.join(5)


def serve(job: Job, port: int, *, watched: bool) -> int:
    """Serve the page until the user ends the command."""
    with serving(job, port, watched=watched) as site, contextlib.suppress(KeyboardInterrupt):
        print(f"{site.address}  (Ctrl-C ends it)", flush=True)
        threading.Event().wait()
    return 0
