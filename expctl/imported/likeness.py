"""Tell whether two short texts of a hand-kept ledger may speak of the same change, by the words that they share."""

import re

WORD = re.compile(r"[a-z][a-z0-9_]{2,}")
# What any change may be called says nothing of which it is.
GENERIC = re.compile(
    r"add|analysis|and|are|attempt|avoid|baseline|before|benchmark|bench|change|check|compute|conclusion|correctness"
    r"|cost|decision|default|details|discussion|drop|each|enable|experiment|fast|faster|final|findings|first|fix"
    r"|follow|for|force|from|full|gain|idea|implementation|improve|increase|instead|into|kernel|less|lower|make"
    r"|measure|measurement|measurements|more|move|new|next|not|notes|one|only|opt|optimisation|optimization|optimize"
    r"|outcome|over|path|per|perf|performance|phase|pre|raise|reduce|remove|replace|result|results|rework|run|second"
    r"|set|single|size|skip|slow|slower|smaller|sort|speed|step|summary|test|than|the|their|then|third|time|try|tune"
    r"|tuning|two|use|validation|verdict|via|when|wide|wider|with|without"
)
STEM = 5
SHARE = 0.5
# `MAX_LEN`, `--no-wait`, `wideLoads`: who uses the same name means the same thing.
CODE = re.compile(r"--[a-z][\w-]+|\b[A-Za-z]\w*_\w+\b|\b[a-z]+[A-Z]\w+\b", re.ASCII)


def stems(text: str) -> frozenset[str]:
    """Return the first letters of the telling words of `text`, so that `chrono` and `chronological` are one."""
    words = WORD.findall(text.lower())
    return frozenset(word.rstrip("s")[:STEM] for word in words if not GENERIC.fullmatch(word))


def may_be_the_same(title: str, change: str, body: str = "") -> bool:
    """Return whether `title` (with the text `body` below it) may speak of `change`: they share the name of something in code,
    or half of their telling words, or one of them has no telling word, so that nobody can say that they differ.
    """
    first, second = stems(title), stems(change)
    if not first or not second or set(CODE.findall(title)) & set(CODE.findall(change)):
        return True
    return len(first & second) >= SHARE * min(len(first), len(second)) or len(second & stems(body)) >= SHARE * len(second)
