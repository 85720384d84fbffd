"""Numbers as pages print them."""

from __future__ import annotations

import math

from ..stats import raised


def number(value: float | None, digits: int = 4) -> str:
    """A number with `digits` significant digits and thousands separators; a dash for none."""
    if value is None or math.isnan(value):
        return "–"
    if math.isinf(value):
        return "∞" if value > 0 else "−∞"
    if value == 0:
        return "0"
    size = abs(value)
    if size >= 1e9 or size < 1e-4:
        mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}·10{raised(int(exponent))}".replace("-", "−")
    decimals = max(digits - 1 - math.floor(math.log10(size)), 0)
    text = f"{value:,.{decimals}f}"
    if "." in text:
        text = text.rstrip("0").rstrip(".")
    return text.replace(",", "\u202f").replace("-", "−")
