"""Exceptions that nobody raised on purpose: whose they are, and what is said of those of ours."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import sysconfig
import types
from collections.abc import Iterator

from s2s_ad.diagnostics import InternalError, Origin

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
#: packages that never read an attribute of an object of the user's
WITHIN = tuple(
    PACKAGE + each + os.sep
    for each in ("analysis", "core", "emit", "rules", "simplify", "storage", "transforms")
)
STANDS_FOR = "s2s_ad.written."  # classes with the names of Python's, which they stand for
LIBRARIES = tuple(sysconfig.get_path(each) + os.sep for each in ("stdlib", "purelib", "platlib"))
HELP = "please report it, with the function and the whole traceback; the error above is the cause"


@contextlib.contextmanager
def told() -> Iterator[None]:
    """An exception that is a fault of the compiler says so; the user's own pass."""
    try:
        yield
    except Exception as error:
        if is_meant(error) or is_of_user_code(error):
            raise
        raise internal(error) from error


def internal(error: Exception, origin: Origin | None = None) -> InternalError:
    """What is raised from an exception that is a fault of the compiler."""
    return InternalError(
        "S2S901",
        f"{type(error).__name__}: {error}",
        origin=origin or origin_of(error),
        why="this is a fault of s2s_ad, not of your code",
        help=HELP,
    )


def is_meant(error: BaseException) -> bool:
    """Whether an exception is one that this package raises on purpose, or no error of code."""
    ours = type(error).__module__.startswith("s2s_ad.")
    return ours or isinstance(error, MemoryError | Warning)


def names_ours(error: Exception) -> bool:
    """Whether an exception of Python speaks of what only the compiler handles.

    Such as `'Static' object has no attribute 'shape'`: no user has a Static.
    """
    found = re.search(r"'(\w+)' object|type '?(\w+)", str(error))
    kind = next(filter(None, found.groups()), "") if found else ""
    if isinstance(error, TypeError) and any(map(_name_in_python, _own_classes(kind))):
        return False  # Python asked for a number, say, and was given a function
    innermost = _files(error)[-1]
    if innermost.startswith(PACKAGE) and str(error).startswith("zip() argument "):
        return True  # of the user's zip() it is said otherwise
    if innermost.startswith(WITHIN) and (isinstance(error, AttributeError) or kind == "NoneType"):
        return True
    own = [each for each in _own_classes(kind) if not each.__module__.startswith(STANDS_FOR)]
    if isinstance(error, AttributeError) and error.obj is not None:
        return type(error.obj) in own  # a user's class may have such a name
    return bool(own)


def in_words_of_python(error: Exception) -> str:
    """The text of an exception with Python's name for a class that stands for one of Python's.

    Such as `must be real number, not Closure`: what the user has is a function.
    """
    return re.sub(r"\b[A-Z]\w+\b", _name_instead, str(error))


def _name_instead(found: re.Match[str]) -> str:
    names = map(_name_in_python, _own_classes(found[0]))
    return next(filter(None, names), found[0])


def _name_in_python(kind: type) -> str:
    return getattr(kind, "in_python", "")


def _own_classes(name: str) -> list[type]:
    """The classes of this package that have a name."""
    modules = [module for key, module in list(sys.modules.items()) if key.startswith("s2s_ad.")]
    found = [getattr(each, name, None) for each in modules] if name else []
    return [e for e in found if isinstance(e, type) and e.__module__.startswith("s2s_ad.")]


def is_of_user_code(error: BaseException) -> bool:
    """Whether code that is neither ours nor a library's raised it."""
    files = [
        each
        for each in _files(error)
        if each.startswith(PACKAGE) or not each.startswith((*LIBRARIES, "<frozen"))
    ]
    return bool(files) and not files[-1].startswith(PACKAGE)


def origin_of(error: BaseException) -> Origin | None:
    """The place in the user's code that was worked on: the innermost that a frame knows of."""
    for frame in reversed(_frames(error)):
        if frame.f_code.co_filename.startswith(PACKAGE):
            for value in frame.f_locals.values():
                origin = value if isinstance(value, Origin) else getattr(value, "origin", None)
                if isinstance(origin, Origin):
                    return origin
    return None


def _files(error: BaseException) -> list[str]:
    return [frame.f_code.co_filename for frame in _frames(error)]


def _frames(error: BaseException) -> list[types.FrameType]:
    frames, traceback = [], error.__traceback__
    while traceback is not None:
        frames.append(traceback.tb_frame)
        traceback = traceback.tb_next
    return frames
