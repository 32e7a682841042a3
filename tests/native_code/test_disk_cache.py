"""Native code between processes: found again, and never believed where it may not be ours."""

import os
import subprocess
import sys
import textwrap
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from s2s_ad import grad, jit
from s2s_ad.api.families import FAMILIES
from s2s_ad.cli import main
from s2s_ad.load import numba_cache
from s2s_ad.load.disk_cache import DiskCache, default_folder
from s2s_ad.load.native_functions import NativeModule

KEY = {"function": "f", "arguments": ["float64"], "text": "12ab"}
PAYLOAD = bytes(range(256)) * 3


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "caches" / "s2s_ad"


@pytest.fixture
def cache(folder):
    made = DiskCache(folder)
    made.write(KEY, PAYLOAD, "the gradient of f")
    return made


def test_what_is_written_is_read(cache, folder):
    assert cache.read(KEY) == PAYLOAD
    assert cache.read({**KEY, "text": "12ac"}) is None
    (entry,) = cache.entries()
    assert (entry.made_of, entry.shown) == (KEY, "the gradient of f")
    assert entry.nbytes == entry.path.stat().st_size > len(PAYLOAD)
    if os.name == "posix":
        assert folder.stat().st_mode & 0o077 == entry.path.stat().st_mode & 0o077 == 0


def only(cache):
    return cache.entries()[0].path


def flipped(share):
    """A change of one bit, at this share of the file."""

    def change(path):
        content = bytearray(path.read_bytes())
        content[int(share * (len(content) - 1))] ^= 4
        path.write_bytes(content)

    return change


def cut(path):
    path.write_bytes(path.read_bytes()[:-100])


def of_another_key(path):
    other = DiskCache(path.parent / "other")
    other.write({**KEY, "text": "99"}, PAYLOAD)
    only(other).replace(path)


def linked(path):
    path.rename(path.with_suffix(".elsewhere"))
    path.symlink_to(path.with_suffix(".elsewhere"))


def a_pipe(path):
    path.unlink()
    os.mkfifo(path)


DAMAGES = {f"a bit, {share:.0%}": flipped(share) for share in (0, 0.02, 0.05, 0.1, 0.5, 1)}
DAMAGES |= {
    "cut": cut,
    "empty": lambda path: path.write_bytes(b""),
    "of another key": of_another_key,
    "others may write": lambda path: path.chmod(0o666),
    "a group may write": lambda path: path.chmod(0o620),
    "a link": linked,
    "a pipe": a_pipe,
    "a folder": lambda path: (path.unlink(), path.mkdir()),
    "others may write to its folder": lambda path: path.parent.chmod(0o777),
}
OF_POSIX = {"others may write", "a group may write", "a link", "a pipe"}
OF_POSIX |= {"others may write to its folder"}


@pytest.mark.parametrize("damage", DAMAGES)
def test_what_is_damaged_or_may_be_foreign_is_not_read(cache, damage):
    if os.name != "posix" and damage in OF_POSIX:
        pytest.skip("Windows has other permissions")
    DAMAGES[damage](only(cache))
    assert cache.read(KEY) is None


@pytest.mark.skipif(os.name != "posix", reason="Windows has no such numbers")
@pytest.mark.parametrize("foreign", ["folder", "file"])
def test_what_belongs_to_another_user_is_not_read(cache, monkeypatch, foreign):
    real = getattr(os, "stat" if foreign == "folder" else "fstat")

    def of_another_user(*args, **kwargs):
        found = real(*args, **kwargs)
        return os.stat_result((*found[:4], found.st_uid + 1, *found[5:]))

    monkeypatch.setattr(os, real.__name__, of_another_user)
    assert cache.read(KEY) is None
    assert cache.entries() == [] or foreign == "folder"
    if foreign == "folder":
        assert "belongs to user" in cache.problem()
        assert cache.clear() == 0


def test_a_damaged_file_is_made_anew(cache):
    cut(only(cache))
    cache.write(KEY, PAYLOAD)
    assert cache.read(KEY) == PAYLOAD


@pytest.mark.parametrize("where", ["under a file", "read only"])
def test_a_folder_that_cannot_be_written_is_no_cache(cache, tmp_path, monkeypatch, where):
    if where == "under a file":
        (tmp_path / "file").write_text("")
        cache = DiskCache(tmp_path / "file" / "caches")
    else:  # root may write everywhere: refused in its name

        def refuse(*args, **kwargs):
            raise PermissionError(13, "no")

        for name in ("tempfile.mkstemp", "os.utime", "os.replace"):
            monkeypatch.setattr(name, refuse)
    other = {**KEY, "text": "77"}
    cache.write(other, PAYLOAD)
    assert cache.read(other) is None
    assert cache.read(KEY) == (PAYLOAD if where == "read only" else None)


def test_what_was_not_used_for_longest_goes_first(folder):
    cache = DiskCache(folder, most_bytes=4 * len(PAYLOAD))
    keys = [{**KEY, "text": str(i)} for i in range(4)]
    now = time.time()
    for i, key in enumerate(keys[:3]):
        cache.write(key, PAYLOAD)
        os.utime(cache._path(key), (now - 100 + i, now - 100 + i))
    assert cache.read(keys[0]) == PAYLOAD  # used now: 1 is the oldest
    cache.write(keys[3], PAYLOAD)
    assert [cache.read(key) is None for key in keys] == [False, True, False, False]
    cache.write({**KEY, "text": "large"}, 5 * PAYLOAD)
    assert len(cache.entries()) == 3


def test_unfinished_files_that_nobody_writes_any_more_go(cache, folder):
    old, fresh = folder / "1.part", folder / "2.part"
    for path in (old, fresh):
        path.write_bytes(b"")
    os.utime(old, (0, 0))
    cache.write({**KEY, "text": "other"}, b"")
    assert not old.exists()
    assert fresh.exists()
    assert cache.clear() == 3
    assert list(folder.iterdir()) == []


def test_readers_see_a_whole_file_or_none(folder):
    caches = [DiskCache(folder) for _ in range(3)]

    def work(number):
        for _ in range(50):
            if number:
                caches[number].write(KEY, PAYLOAD * number)
            assert caches[number].read(KEY) in (None, PAYLOAD, PAYLOAD * 2)

    with ThreadPoolExecutor(3) as threads:
        list(threads.map(work, range(3)))
    assert len(list(folder.iterdir())) == 1


def test_the_folder_is_that_of_the_environment(monkeypatch, tmp_path):
    monkeypatch.delenv("S2S_AD_CACHE")
    monkeypatch.setenv("S2S_AD_CACHE_DIR", str(tmp_path))
    assert default_folder() == tmp_path
    monkeypatch.setenv("S2S_AD_CACHE", "0")
    assert default_folder() is None


# ---- with Numba ----------------------------------------------------------------------------------


@pytest.fixture
def native(monkeypatch, folder):
    """Turns native code and its cache on, and makes functions as if in a process of their own."""
    pytest.importorskip("numba")
    monkeypatch.setenv("S2S_AD_NATIVE", "1")
    monkeypatch.setenv("S2S_AD_CACHE", "1")
    monkeypatch.setenv("S2S_AD_CACHE_DIR", str(folder))
    return folder


def cube(x):
    return np.sum(x * x * x)


def compiled(function=cube, expected=12.0, **options):
    """How many functions Numba compiles for a gradient that nobody has asked for before."""
    from numba.core import event

    FAMILIES.clear()
    made = jit(grad(function), **options)
    with event.install_recorder("numba:compile") as recorder:
        assert np.array_equal(made(np.full(3, 2.0)), np.full(3, expected))
    loaded = made.specialised((np.full(3, 2.0),), {})
    assert loaded.text.native, loaded.text.refused
    assert loaded.function.__name__.endswith("_jitted")
    return sum(each.is_start for _, each in recorder.buffer)


def test_native_code_is_compiled_once(native, monkeypatch):
    assert compiled() > 0
    assert len(list(native.iterdir())) == 1
    assert compiled() == 0
    assert compiled(cache=False) > 0
    assert compiled(lambda x: np.sum(x * x), 4.0) > 0
    os.environ["S2S_AD_CACHE"] = "0"
    assert compiled() > 0
    os.environ["S2S_AD_CACHE"] = "1"
    versions = dict(numba_cache.versions(), numba="0.0")
    monkeypatch.setattr(numba_cache, "versions", lambda: versions)
    assert compiled() > 0
    assert compiled() == 0
    for path in native.iterdir():
        cut(path)
    assert compiled() > 0
    assert compiled() == 0


def test_what_numba_cannot_load_is_compiled_anew(native, monkeypatch):
    assert compiled() > 0
    read = DiskCache.read
    monkeypatch.setattr(DiskCache, "read", lambda self, key: read(self, key) and b"no pickle")
    assert compiled() > 0


def test_functions_of_one_name_are_told_apart(native):
    names = set()
    for function in (lambda x: np.sum(x * x * x), lambda x: np.sum(x * x)):
        loaded = jit(grad(function)).specialised((np.ones(3),), {})
        (result,) = loaded.namespace["_s2s_kernel"].overloads.values()
        assert loaded.text.name == "f_grad"
        names.add(result.fndesc.qualname)
    assert len(names) == 2


def test_comments_and_docstrings_do_not_tell_code_apart():
    texts = ['def f(x):\n    """At line 3."""\n    return x  # line 3\n', "def f(x):\n    return x"]
    assert numba_cache.digest_of(texts[0]) == numba_cache.digest_of(texts[1])
    assert numba_cache.digest_of(texts[0]) != numba_cache.digest_of("def f(x):\n    return -x")


HELPER = """
from numba import njit

@njit
def inner(x):
    return {} * x

@njit
def helper(x):
    return inner(x) + 1

@njit
def {}(x):
    return helper(x)
"""


def test_what_modules_define_alike_is_compiled_once():
    twice, again, thrice = (
        NativeModule(HELPER.format(factor, name)).define("file", [name])
        for factor, name in ((2, "f"), (2, "g"), (3, "f"))
    )
    assert twice["helper"] is again["helper"]
    assert twice["helper"] is not thrice["helper"]  # it calls another function
    assert [twice["f"](2), again["g"](2), thrice["f"](2)] == [5, 5, 7]
    assert len(twice["helper"].signatures) == 1


def test_the_command_lists_and_clears(cache, folder, monkeypatch, capsys):
    monkeypatch.setenv("S2S_AD_CACHE", "1")
    monkeypatch.setenv("S2S_AD_CACHE_DIR", str(folder))
    os.utime(only(cache), (time.time() - 7300, time.time() - 7300))
    assert main(["cache"]) == 0
    _head, row, total = capsys.readouterr().out.splitlines()
    assert row.split() == ["f", "float64", "1", "2", "h", "ago", *"the gradient of f".split()]
    assert total == f"1 function, 1 KB of at most 262,144 KB, in {folder}"
    assert main(["cache", "--clear"]) == 0
    assert cache.entries() == []
    assert main(["cache"]) == 0
    monkeypatch.setenv("S2S_AD_CACHE", "0")
    assert main(["cache"]) == 1
    if os.name == "posix":
        monkeypatch.setenv("S2S_AD_CACHE", "1")
        folder.chmod(0o777)
        assert main(["cache"]) == 1
        assert "others may write to it" in capsys.readouterr().err


# ---- processes -----------------------------------------------------------------------------------

HEAD = """
    import time

    import numpy as np
    from numba.core import event
    from s2s_ad import grad, jit, vmap

    x = np.full(3, 2.0)
    with event.install_recorder("numba:compile") as recorder:
        {body}
    print(sum(each.is_start for _, each in recorder.buffer))
"""


def started(tmp_path, name, body):
    path = tmp_path / name
    path.write_text(textwrap.dedent(HEAD).format(body=body), encoding="utf-8")
    return subprocess.Popen([sys.executable, str(path)], stdout=subprocess.PIPE, text=True)


def ended(process):
    out, _ = process.communicate(timeout=120)
    assert process.returncode == 0
    return int(out)


@pytest.mark.slow
def test_another_process_compiles_nothing(native, tmp_path):
    body = "assert jit(grad(lambda x: np.sum(x**3)))(x)[0] == 12.0"
    assert ended(started(tmp_path, "one.py", body)) > 0
    assert ended(started(tmp_path, "one.py", body)) == 0
    moved = f"pass\n    {body}"  # the same code at another line
    assert ended(started(tmp_path, "one.py", moved)) == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    "body",
    [
        "np.sum(np.sin(x) ** 1.5 + np.exp(x))",
        "np.sum(np.outer(x, x) @ np.outer(x, x + 1))",
        "np.linalg.det(np.outer(x, x) + np.eye(x.size))",
        "np.median(x) * np.sum(np.sort(x)) + np.sum(np.floor(x))",
        "np.abs(np.sum((x + 2j) ** 2))",
        "sum([x[k] ** 2 for k in range(x.size)])",
    ],
)
def test_code_finds_what_it_calls_in_another_process(native, tmp_path, body):
    """Whatever it is: what Numba has not imported is imported, and more can be compiled then."""
    lines = f"""x = np.random.default_rng(3).random(40)
    f = grad(lambda x: {body})
    np.testing.assert_allclose(jit(f)(x), f(x), rtol=1e-9)
    assert np.isclose(jit(lambda x: x @ x, cache=False)(x), x @ x)"""
    assert ended(started(tmp_path, "one.py", lines)) > 1
    assert ended(started(tmp_path, "one.py", lines)) == 1  # what is not kept


@pytest.mark.slow
def test_a_batch_whose_samples_threads_share_is_kept(native, tmp_path):
    body = (
        "f = jit(vmap(grad(lambda a, b: a * b * a if a > 1 else b), (0, None)), parallel=True)\n"
        "    assert np.array_equal(f(x, 3.0), np.full(3, 12.0))"
    )
    assert ended(started(tmp_path, "batch.py", body)) > 0
    assert ended(started(tmp_path, "batch.py", body)) == 0


@pytest.mark.slow
def test_two_processes_at_once(native, tmp_path):
    body = "assert jit(grad(lambda x: np.sum(x**3)))(x)[0] == 12.0"
    both = [started(tmp_path, f"{i}.py", body) for i in range(2)]
    assert all(ended(each) > 0 for each in both)
    assert len(list(Path(native).iterdir())) == 1
    assert ended(started(tmp_path, "3.py", body)) == 0
