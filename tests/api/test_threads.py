"""Several threads at once, and processes that are forked while a thread compiles."""

import contextlib
import gc
import os
import signal
import sys
import threading
import time
import warnings

import numpy as np
import pytest

from s2s_ad import grad, hessian, jvp, value_and_grad, vjp, vmap
from s2s_ad.api import function as api
from s2s_ad.api.depth import deep_enough
from s2s_ad.core.sharing import lazy, quiet

X = np.array([1.0, 2.0, 3.0])
PATIENCE = 30  # seconds after which a process counts as hanging

forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


def cubes(x):
    return np.sum(x**3)


def clipped(x):
    total = 0.0
    for i in range(3):
        if x[i] > 1.5:
            total += x[i] ** 2
        else:
            total -= x[i]
    return total


# ---- at once -------------------------------------------------------------------------------------


def run_at_once(count, work):
    """What each of the threads returned or raised."""
    results, start = [None] * count, threading.Barrier(count)

    def run(i):
        start.wait()
        try:
            results[i] = work(i)
        except BaseException as error:
            results[i] = error

    threads = [threading.Thread(target=run, args=(i,), daemon=True) for i in range(count)]
    for each in threads:
        each.start()
    for each in threads:
        each.join(PATIENCE)
    assert not any(each.is_alive() for each in threads)
    return results


@pytest.fixture
def impatient_threads():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.mark.usefixtures("impatient_threads")
def test_many_threads_compile_once_for_each_signature(monkeypatch):
    names, load = [], api.load
    monkeypatch.setattr(api, "load", lambda *args: names.append(args[1].name) or load(*args))
    derivative = grad(cubes)
    kinds = [np.full((2,) * rank, 2.0, dtype) for rank in (1, 2) for dtype in (float, "f4")]
    results = run_at_once(8, lambda i: derivative(kinds[i % 4]))
    for i, result in enumerate(results):
        np.testing.assert_array_equal(result, np.full_like(kinds[i % 4], 12.0), strict=True)
    assert len(names) == 4


@pytest.mark.usefixtures("impatient_threads")
def test_what_threads_generate_at_once_is_what_one_generates():
    made = [lambda: grad(clipped), lambda: hessian(cubes), lambda: vmap(grad(clipped))]
    arguments = [X, X, np.ones((2, 3))]
    alone = [make().source(x) for make, x in zip(made, arguments, strict=True)]
    results = run_at_once(6, lambda i: made[i % 3]().source(arguments[i % 3]))
    assert results == [*alone, *alone]


@pytest.mark.usefixtures("impatient_threads")
def test_compiling_leaves_the_settings_that_threads_share():
    before = gc.get_threshold(), list(warnings.filters)
    run_at_once(6, lambda i: [grad(clipped)(X), vjp(lambda x: np.sum(x * i), X), jvp(cubes, X, X)])
    assert (gc.get_threshold(), list(warnings.filters)) == before


@pytest.mark.parametrize(
    "other", [lambda: quiet("b.py"), warnings.catch_warnings], ids=["ours", "the user's"]
)
@pytest.mark.parametrize("order", ["quiet enters first", "the other enters first"])
def test_threads_that_silence_warnings_in_turns_leave_them_as_they_were(other, order):
    before = list(warnings.filters)
    first, second = quiet("a.py"), other()
    if order == "the other enters first":
        first, second = second, first
    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    second.__exit__(None, None, None)
    assert list(warnings.filters) == before


def test_warnings_of_one_file_are_silenced_and_those_of_others_are_not():
    def compiled(file):
        compile("x = 1\ny = x is 1\n", file, "exec")

    with warnings.catch_warnings(action="error"):
        for file in ("a.py", "<cell 1>", "some (odd) place.py"):
            with quiet(file):
                compiled(file)
                with pytest.raises(SyntaxError):
                    compiled("another.py")
            with pytest.raises(SyntaxError):
                compiled(file)


def test_two_objects_may_be_asked_what_they_compute_once_at_the_same_time():
    class Asked:
        waits: threading.Barrier | None = None

        @lazy
        def answer(self):
            self.waits.wait(PATIENCE)  # the other one is in here as well
            return object()

    Asked.waits = threading.Barrier(2)
    objects = Asked(), Asked()
    first, second = run_at_once(2, lambda i: objects[i].answer)
    assert (first, second) == (objects[0].answer, objects[1].answer)


# ---- forked --------------------------------------------------------------------------------------


def fails_in_child(work):
    """What is wrong with a forked process that does the work; None where nothing is."""
    with warnings.catch_warnings(action="ignore"):  # Python 3.12 advises against forks of threads
        child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            signal.alarm(PATIENCE)
            work()
            status = 0
        os._exit(status)
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            return os.waitstatus_to_exitcode(status) or None
        time.sleep(0.01)
    os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    return "it hangs"


@forks
def test_a_process_forked_in_the_middle_of_a_compilation(monkeypatch):
    derivative, of_two = grad(cubes), value_and_grad(clipped)
    thresholds = gc.get_threshold()
    inside, may_go_on = threading.Event(), threading.Event()

    def finish(*args, **kwargs):  # what `patient` is around
        inside.set()
        may_go_on.wait(PATIENCE)
        return finished(*args, **kwargs)

    finished = api.finish
    monkeypatch.setattr(api, "finish", finish)
    thread = threading.Thread(target=lambda: derivative(X))
    thread.start()
    assert inside.wait(PATIENCE)

    def work():
        api.finish = finished
        assert gc.get_threshold() == thresholds
        np.testing.assert_array_equal(derivative(X), 3 * X**2)
        np.testing.assert_array_equal(of_two(X)[1], [-1.0, 4.0, 6.0])
        np.testing.assert_array_equal(vjp(cubes, X)[1](1.0)[0], 3 * X**2)
        assert gc.get_threshold() == thresholds

    wrong = fails_in_child(work)
    may_go_on.set()
    thread.join(PATIENCE)
    assert wrong is None
    np.testing.assert_array_equal(derivative(X), 3 * X**2)


@forks
def test_a_process_forked_while_a_large_stack_is_in_use():
    limit = sys.getrecursionlimit()
    inside, may_go_on = threading.Event(), threading.Event()

    def deep():
        if sys.getrecursionlimit() == limit:
            raise RecursionError
        inside.set()
        may_go_on.wait(PATIENCE)
        return "done"

    def work():
        may_go_on.set()
        assert sys.getrecursionlimit() == limit
        assert deep_enough(deep) == "done"
        assert sys.getrecursionlimit() == limit

    thread = threading.Thread(target=lambda: deep_enough(deep))
    thread.start()
    assert inside.wait(PATIENCE)
    wrong = fails_in_child(work)
    may_go_on.set()
    thread.join(PATIENCE)
    assert (wrong, sys.getrecursionlimit()) == (None, limit)


@forks
def test_processes_forked_at_any_moment_of_compilations():
    stopped = threading.Event()
    latest = [grad(cubes)]

    def compile_on():
        ranks = [np.ones((1,) * rank) for rank in range(6)]
        while not stopped.is_set():
            latest[0] = derivative = grad(cubes)
            for x in ranks:
                derivative(x)
                vjp(lambda x: np.sum(x * x), x)

    def work():
        np.testing.assert_array_equal(latest[0](X), 3 * X**2)
        np.testing.assert_array_equal(grad(clipped)(X), [-1.0, 4.0, 6.0])
        np.testing.assert_array_equal(jvp(cubes, X, X)[1], np.sum(3 * X**3))

    threads = [threading.Thread(target=compile_on) for _ in range(2)]
    for each in threads:
        each.start()
    try:
        wrong = [fails_in_child(work) for _ in range(5)]
    finally:
        stopped.set()
        for each in threads:
            each.join(PATIENCE)
    assert wrong == [None] * 5
