"""What the frontend refuses, by node type: what to call it, and what to write instead."""

from __future__ import annotations

import gast

_LATER = "it comes with a later version"
_LOOP = f"{_LATER}; use NumPy operations on whole arrays"
_SCALAR = f"{_LATER}; np.where chooses between values"

REFUSED: dict[str, tuple[str, str]] = {
    "AsyncFor": ("'async for'", "differentiated functions run to their end at once"),
    "AsyncFunctionDef": ("an async function", "differentiated functions run to their end at once"),
    "AsyncWith": ("'async with'", "differentiated functions run to their end at once"),
    "Await": ("'await'", "differentiated functions run to their end at once"),
    "Break": ("'break'", _LOOP),
    "ClassDef": ("a class defined inside the function", "define the class at module level"),
    "Continue": ("'continue'", _LOOP),
    "Delete": ("'del'", "leave the name to Python"),
    "DictComp": ("a dict comprehension", "write the dict out"),
    "For": ("a 'for' loop", _LOOP),
    "GeneratorExp": ("a generator expression", _LOOP),
    "Global": ("'global'", "pass the value as an argument and return the new one"),
    "If": ("a branch on a value that is not known when code is generated", _SCALAR),
    "IfExp": ("a choice on a value that is not known when code is generated", _SCALAR),
    "Import": ("an import inside the function", "import at module level"),
    "ImportFrom": ("an import inside the function", "import at module level"),
    "Interpolation": ("a template string", "use an f-string"),
    "ListComp": ("a list comprehension", _LOOP),
    "Match": ("'match'", _SCALAR),
    "NamedExpr": ("an assignment inside an expression (':=')", "assign in a statement of its own"),
    "Nonlocal": ("'nonlocal'", "return the new value"),
    "Set": ("a set", "use a tuple or a list"),
    "SetComp": ("a set comprehension", "use a tuple or a list"),
    "TemplateStr": ("a template string", "use an f-string"),
    "Try": ("'try'", f"{_LATER}; let the exception leave the function"),
    "TryStar": ("'try' with 'except*'", "let the exception leave the function"),
    "TypeAlias": ("a type alias inside the function", "define it at module level"),
    "While": ("a 'while' loop", _LOOP),
    "With": ("'with'", f"{_LATER}; enter the context around the call"),
    "Yield": ("'yield'", "return the values in a tuple or an array"),
    "YieldFrom": ("'yield from'", "return the values in a tuple or an array"),
}


def refusal(kind: type[gast.AST]) -> tuple[str, str]:
    """What the construct is called, and what to do instead."""
    what, help = REFUSED.get(kind.__name__, (f"{kind.__name__}", "write it another way"))
    return f"{what} is not supported", help
