"""The notebooks of the site run in a kernel, from their first cell to their last.

python docs/run_notebooks.py build/site
"""

import os
import sys
import tempfile
import time
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError


def failure(path: Path) -> str:
    """What went wrong in a notebook."""
    notebook = nbformat.read(path, as_version=4)
    with tempfile.TemporaryDirectory() as folder:
        quiet = ["--IPKernelApp.log_level=50"]
        client = NotebookClient(notebook, timeout=120, kernel_name="python3", extra_arguments=quiet)
        try:
            client.execute(cwd=folder)
        except CellExecutionError as error:
            return str(error)
    return ""


def main() -> int:
    """Run all notebooks; the status for the shell."""
    os.environ.setdefault("PYDEVD_DISABLE_FILE_VALIDATION", "1")
    paths = sorted(Path(sys.argv[1]).rglob("*.ipynb"))
    failed = []
    for path in paths:
        started = time.perf_counter()
        found = failure(path)
        print(
            f"{path.name:32} {'FAILED' if found else 'ok':8} {time.perf_counter() - started:.1f} s"
        )
        failed += [f"{path.name}\n{found}"] if found else []
    print("\n".join(failed) or f"{len(paths)} notebooks, all of them run")
    return 1 if failed or not paths else 0


if __name__ == "__main__":
    sys.exit(main())
