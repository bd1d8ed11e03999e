"""Finds likely secrets in text: keys and tokens by their form, passwords by the name before them.

Patterns stop at quotes and white space, so that masked JSON stays valid.
"""

import re
from collections.abc import Iterable

VALUE = r"[^\s\"',;<>|\\]"
QUOTE = r"\\*[\"']"
"""A quote, also with the backslashes of JSON within JSON."""

# (lower-case substrings of which a text needs one, pattern). The group of a pattern is the secret, else the whole match is.
SHAPES = (
    (
        ("private key",),
        r"-----BEGIN [A-Z ]*PRIVATE KEY-----[^\"']*?(?:-----END [A-Z ]*PRIVATE KEY-----|(?=[\"'])|\Z)",
    ),
    (("akia", "asia"), r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_", "github_pat_"), r"\b(?:gh[pousr]_[A-Za-z0-9]{20,}|github_pat_\w{20,})"),
    (("glpat-", "xox"), r"\b(?:glpat-[\w-]{16,}|xox[abeprs]-[\w-]{10,})"),
    (("hf_", "npm_", "pypi-", "aiza"), r"\b(?:hf_[A-Za-z0-9]{20,}|npm_[A-Za-z0-9]{30,}|pypi-[\w-]{30,}|AIza[\w-]{30,})"),
    (("sk-", "sk_", "pk-", "pk_", "rk-", "rk_"), r"\b[spr]k[-_][A-Za-z0-9_-]{20,}"),
    (("eyj",), r"\beyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]{4,}"),
    (("bearer", "authorization"), rf"(?i:\b(?:bearer|authorization: (?:basic|token))\s+)({VALUE}{{8,}})"),
    (("://",), rf"://[^\s/:@\"']*:({VALUE}+)(?=@)"),
    (
        ("password", "passwd", "passphrase", "secret"),
        rf"(?i:(?:password|passwd|passphrase|secret)[\w-]*(?:{QUOTE})?\s*[=:]\s*(?:{QUOTE})?)({VALUE}{{6,}})",
    ),
    (
        ("token", "api", "access", "credential"),
        rf"(?i:(?:token|api[_-]?key|access[_-]?key|credential)[\w-]*(?:{QUOTE}\s*:|\s*=)\s*(?:{QUOTE})?)({VALUE}{{8,}})",
    ),
)

SECRET_NAME = re.compile(r"(?i:token|secret|passw|passphrase|credential|api_?key|access_?key|private_?key)")
VALUE_LENGTH_LEAST = 8


def secret_spans(text: str, values: Iterable[str] = ()) -> list[tuple[int, int]]:
    """Return the (start, end) of likely secrets in `text`, in order, without overlaps. `values` are known secrets."""
    small = text.lower()
    found = [(each.start(), each.end()) for value in values if value in text for each in re.finditer(re.escape(value), text)]
    for signs, pattern in SHAPES:
        if any(sign in small for sign in signs):
            found += [each.span(each.lastindex or 0) for each in re.finditer(pattern, text)]
    spans: list[tuple[int, int]] = []
    for start, end in sorted(found):
        if spans and start <= spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        elif end > start:
            spans.append((start, end))
    return spans


def masked(text: str, values: Iterable[str] = ()) -> str:
    """Replace each character of a likely secret in `text` by an asterisk. `values` are known secrets to look for."""
    for start, end in secret_spans(text, values):
        text = text[:start] + "*" * (end - start) + text[end:]
    return text
