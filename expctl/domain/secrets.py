"""Finds what looks like a secret in text that others wrote: keys and tokens by their shape, values by the name before them.

A pattern stops at quotes and white space, so that masked JSON stays JSON.
"""

import re
from collections.abc import Iterable

VALUE = r"[^\s\"',;<>|\\]"
QUOTE = r"\\*[\"']"
"""JSON within JSON has a backslash before it."""
SHAPES = (
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"']*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?=[\"'])|\Z)",
    r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b",
    r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,}|glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,}|hf_[A-Za-z0-9]{20,})",
    r"\b(?:sk|pk|rk)[-_](?:[A-Za-z]+[-_])*[A-Za-z0-9_-]{20,}",
    r"\b(?:npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|AIza[\w-]{30,})",
    r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}",
)
AFTER = (
    rf"(?i:\b(?:bearer|authorization: (?:basic|token))\s+)({VALUE}{{8,}})",
    rf"(?i:\b[a-z][a-z0-9+.-]*://[^\s/:@\"']*:)({VALUE}+)(?=@)",
    rf"(?i:(?:password|passwd|passphrase|secret)[\w-]*(?:{QUOTE})?\s*[=:]\s*(?:{QUOTE})?)({VALUE}{{6,}})",
    rf"(?i:(?:token|api[_-]?key|access[_-]?key|credential)[\w-]*(?:{QUOTE}\s*:|\s*=)\s*(?:{QUOTE})?)({VALUE}{{8,}})",
)
# One quick look at a line tells most lines from those worth a closer one.
HINT = re.compile(
    r"PRIVATE KEY|AKIA|ASIA|gh[pousr]_|github_pat_|glpat-|xox|hf_|[spr]k[-_]|npm_|pypi-|AIza|eyJ|://|"
    r"(?i:bearer|authorization|passw|passphrase|secret|token|api[_-]?key|access[_-]?key|credential)"
)
_PATTERNS = tuple(re.compile(each) for each in (*SHAPES, *AFTER))

SECRET_NAME = re.compile(r"(?i:token|secret|passw|passphrase|credential|api_?key|access_?key|private_?key)")
VALUE_LENGTH_LEAST = 8


def secret_spans(text: str, values: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Where in `text` something lies that nobody should read: (start, end), in order, without overlaps.

    `values` are secrets that are known, wherever they stand.
    """
    found = [(each.start(), each.end()) for value in values for each in re.finditer(re.escape(value), text)]
    if HINT.search(text):
        found += [each.span(each.lastindex or 0) for pattern in _PATTERNS for each in pattern.finditer(text)]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif end > start:
            spans.append((start, end))
    return spans


def masked(text: str, values: Iterable[str] = ()) -> str:
    """`text` with an asterisk for each letter of a secret."""
    for start, end in secret_spans(text, values):
        text = text[:start] + "*" * (end - start) + text[end:]
    return text
