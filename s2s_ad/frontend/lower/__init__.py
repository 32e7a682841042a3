"""Lowering: each construct of Python that is accepted, one family to a file.

Importing this package fills the tables of `core`; what they do not hold is refused by name.
"""

from s2s_ad.frontend.lower import (  # noqa: F401
    array_classes,
    array_methods,
    attempt,
    attributes,
    bisections,
    branches,
    builtin,
    calls,
    comprehensions,
    conditions,
    consumers,
    containers,
    contexts,
    copies,
    decorators,
    effects,
    errors,
    facts,
    functions,
    generators,
    generators_made,
    imports,
    in_place,
    iterables,
    iterators,
    itertools_,
    leaving,
    lists,
    local_classes,
    loops,
    match,
    names,
    namespaces,
    numbers_,
    objects,
    operator_,
    operators,
    ordering,
    statements,
    strides,
    subscripts,
    tensors,
    texts,
)
from s2s_ad.frontend.lower.program import lower

__all__ = ["lower"]
