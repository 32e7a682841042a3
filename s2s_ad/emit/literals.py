"""The source text of constants."""

from __future__ import annotations

import math

MANY_ZEROS = 6  # of a round number, which are counted rather than written


def constant_text(value: object, quote: str = '"') -> str:
    """The expression with this value; strings get this quote, unless the other saves escapes."""
    if isinstance(value, str):
        return _quoted(string_body(value), quote)
    if isinstance(value, bytes):
        return "b" + _quoted(_without_quotes(repr(b'"' + value)[1:]), quote)
    if isinstance(value, float):
        return _float_text(value, quote)
    if isinstance(value, complex):
        return _complex_text(value, quote)
    if isinstance(value, tuple):
        items = ", ".join(constant_text(item, quote) for item in value)
        return f"({items},)" if len(value) == 1 else f"({items})"
    return "..." if value is Ellipsis else repr(value)


def is_negative(value: object) -> bool:
    """Whether the text of value starts with a minus sign."""
    if isinstance(value, float):
        return math.copysign(1.0, value) < 0 and not math.isnan(value)
    return isinstance(value, int) and value < 0


def is_literal(value: object) -> bool:
    """Whether the text of value is a literal, perhaps with a sign, and not a call or a tuple."""
    return not constant_text(value).startswith(("float(", "-float(", "complex(", "("))


def docstring_text(value: str) -> str:
    """A string in triple quotes, with its lines as they are."""
    body = "\n".join(string_body(line) for line in value.split("\n"))
    body = body.replace('"""', r"\"\"\"")
    if body.endswith('"'):
        body = body[:-1] + r"\""
    return f'"""{body}"""'


def string_body(value: str) -> str:
    """What stands between the quotes of a string literal, with no quotes escaped yet."""
    return _without_quotes(repr('"' + value))


def escape_quotes(body: str, delimiter: str) -> str:
    """The body of a string literal, changed so that delimiter does not end it."""
    return body.replace(delimiter, "\\" + "\\".join(delimiter))


def preferred_quote(text: str, quote: str) -> str:
    """The quote that is asked for, or the other one where that takes fewer escapes."""
    other = "'" if quote == '"' else '"'
    return other if text.count(quote) > text.count(other) else quote


def _without_quotes(literal: str) -> str:
    # The literal starts with a double quote, so repr has put it between single quotes, and escaped
    # those in it.
    return literal[2:-1].replace(r"\'", "'")


def _quoted(body: str, quote: str) -> str:
    quote = preferred_quote(body, quote)
    return quote + escape_quotes(body, quote) + quote


def _float_text(value: float, quote: str) -> str:
    if math.isfinite(value):
        # Not repr(value), which for a NumPy scalar names its type.
        text = float.__repr__(value).replace("e+", "e").replace("e-0", "e-")
        digit = text.removesuffix(".0").rstrip("0")
        zeros = len(text) - len(digit) - len(".0")
        return f"{digit}e{zeros}" if len(digit.lstrip("-")) == 1 and zeros >= MANY_ZEROS else text
    sign = "-" if is_negative(value) else ""
    return f"{sign}float({quote}{abs(value)}{quote})"


def _complex_text(value: complex, quote: str) -> str:
    """A literal has no real part and no sign; everything else is spelled out, exactly."""
    imaginary = _float_text(value.imag, quote)
    has_real_part = value.real or is_negative(value.real)
    if math.isfinite(value.imag) and not has_real_part and not is_negative(value.imag):
        return imaginary.removesuffix(".0") + "j"
    return f"complex({_float_text(value.real, quote)}, {imaginary})"
