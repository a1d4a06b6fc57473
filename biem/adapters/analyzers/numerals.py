"""Normalises English and Chinese numerals to one spelling, without floating-point error."""

_ZEROS = {"十": 1, "百": 2, "千": 3, "万": 4, "萬": 4, "亿": 8, "億": 8}
_DIGITS = {c: str(i) for i, c in enumerate("零一二三四五六七八九")} | {"〇": "0", "两": "2"}
NUMERALS = "".join((*_DIGITS, *_ZEROS))
"""Chinese numeral characters, for a regex class."""
_MAGNITUDES = "".join(_ZEROS)
_LONGEST = 24


def times(text: str) -> str:
    """`10万` → `100000`, `1.5亿` → `150000000`, `1,200%` → `1200%`: the suffix multiplies or is kept."""
    digits = text.replace(",", "")
    plain = digits.rstrip(_MAGNITUDES)
    zeros = sum(_ZEROS[c] for c in digits[len(plain) :])
    return _shift(plain, min(zeros, 40)) if zeros else digits


def spoken(text: str) -> str | None:
    """三百二十 → `320`, 两千 → `2000`, 二〇二四 → `2024`, 三百二 → `320`; None for 千万 and 三三."""
    if len(text) > _LONGEST or not all(c in NUMERALS for c in text) or (text[0] in _ZEROS and text[0] != "十"):
        return None
    if all(c in _DIGITS for c in text):
        return "".join(_DIGITS[c] for c in text) if len(text) == 1 or len(text) == 4 or "〇" in text else None
    total = part = digit = 0
    last = 0
    for c in text:
        if c in _DIGITS:
            if digit:
                return None
            digit = int(_DIGITS[c])
            if c in "零〇":
                last = 0
            continue
        zeros = _ZEROS[c]
        if zeros >= 4:
            part += digit
            total = (total + part) * 10**zeros if zeros == 8 or not total else total + part * 10**zeros
            part = 0
        else:
            part += (digit or 1) * 10**zeros
        last, digit = zeros, 0
    tail = digit * 10 ** (last - 1) if digit and last >= 2 else digit
    return str(total + part + tail)


def _shift(decimal: str, zeros: int) -> str:
    whole, _, rest = decimal.partition(".")
    rest = rest.ljust(zeros, "0")
    head, tail = (whole + rest[:zeros]).lstrip("0") or "0", rest[zeros:].rstrip("0")
    return f"{head}.{tail}" if tail else head
