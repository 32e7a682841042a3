"""Ctrl-C while native code runs, while it is compiled, and the end of a process meanwhile."""

import os
import subprocess
import sys
import textwrap

import pytest

pytest.importorskip("numba")

HEAD = """
    import os, signal, threading, time
    import numpy as np
    from s2s_ad import grad, jit

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it

    def walk(x, n):
        y = 0.0
        for i in range(n):
            y = np.sin(y) + x[i % 3]
        return y

    def soon(seconds):
        threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()

    x = np.array([0.1, 0.2, 0.3])
"""
#: what is run, and what it prints
CASES = {
    "a loop": (
        """
    walk_natively = jit(walk)
    walk_natively(x, 3)
    soon(0.2)
    try:
        walk_natively(x, 20_000_000)
        time.sleep(10.0)  # the thread that sends it may have waited for the loop
    except KeyboardInterrupt:
        print("interrupted")
    print(abs(walk_natively(x, 5) - walk(x, 5)) < 1e-12)
""",
        "interrupted True",
    ),
    "the compiler": (
        """
    from s2s_ad.load import native
    kernel = native.Native.kernel

    def interrupted(self):
        os.kill(os.getpid(), signal.SIGINT)
        time.sleep(10.0)

    native.Native.kernel = interrupted
    walk_natively = jit(grad(walk))
    try:
        walk_natively(x, 3)
    except KeyboardInterrupt:
        print("interrupted")
    native.Native.kernel = kernel
    print(np.allclose(walk_natively(x, 5), grad(walk)(x, 5)))
""",
        "interrupted True",
    ),
    "NumPy while a thread compiles": (
        """
    walk_natively = jit(grad(walk), wait=False)
    soon(0.2)
    try:
        while True:
            found = walk_natively(x, 5)
    except KeyboardInterrupt:
        print("interrupted")
    print(np.allclose(walk_natively(x, 5), grad(walk)(x, 5)))
""",
        "interrupted True",
    ),
    "an end while a thread compiles": (
        """
    walk_natively = jit(grad(walk), wait=False)
    print(np.allclose(walk_natively(x, 5), grad(walk)(x, 5)))
""",
        "True",
    ),
}


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.parametrize(
    "name", [pytest.param(e, marks=() if e == "a loop" else pytest.mark.slow) for e in CASES]
)
def test_interrupted(name, tmp_path):
    body, expected = CASES[name]
    program = tmp_path / "program.py"
    program.write_text(textwrap.dedent(HEAD) + textwrap.dedent(body))
    settings = {**os.environ, "S2S_AD_NATIVE": "1", "S2S_AD_CACHE": "0"}
    run = subprocess.run(
        [sys.executable, program], env=settings, capture_output=True, text=True, timeout=240
    )
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.split() == expected.split()
