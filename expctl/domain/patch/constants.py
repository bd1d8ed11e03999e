"""Finds the values that a patch sets, if it changes nothing but values.

A setting is a name and its new value: `constexpr int kTileRows = 8`, `#define LIMIT 40`, the count of a `#pragma unroll`, or
one more tuple in a list of macro calls such as `SCALED_MM_CONFIGS(X)`.
"""

import re
from collections.abc import Mapping, Sequence

from expctl.domain.patch.source_items import DIRECTIVE_ENDS, Item

LITERAL = r"\.?\d[\w.']*|true|false|nullptr|\"(?:\\.|[^\"\\])*\"|'(?:\\.|[^'\\])*'"
GLUE = frozenset("+-*/%&|^~!()<>") | {"<<", ">>", "::"}
PLACEHOLDER = "_"
WHOLE = r"(?<![\w.'])(0[xX][\da-fA-F'_]+|0[bB][01'_]+|0[0-7']*|[1-9][\d'_]*)[uUlLzZ]{0,3}(?![\w.'])"
DIGITS_MAX = 100


def settings_of(pairs: Sequence[tuple[Sequence[Item], Sequence[Item]]]) -> Mapping[str, str]:
    """Return constant -> new value from pairs (source items before a patch, after it); empty if it changes anything else."""
    found: dict[str, str] = {}
    for before, after in pairs:
        if len(before) != len(after):
            return {}
        for old, new in zip(before, after, strict=True):
            changed = _changed(old, new)
            if not changed:
                return {}
            found |= changed
    return found


def plain_values(settings: Mapping[str, str]) -> Mapping[str, str]:
    """Return constants (name -> value) with every whole number in decimal: `0x10` and `16u` become 16."""
    return {name: re.sub(WHOLE, _decimal, value) for name, value in settings.items()}


def _decimal(found: re.Match[str]) -> str:
    digits = found[1].replace("'", "").replace("_", "")  # separators, of C++ and of Python
    octal = len(digits) > 1 and digits.isdecimal() and digits[0] == "0"
    return str(int(digits, 8 if octal else 0)) if len(digits) < DIGITS_MAX else found[0]


def shape_of(items: Sequence[Item]) -> str:
    """Return the text of source items with a placeholder for each value: equal for files that differ only in values."""
    lines, is_literal = [], re.compile(LITERAL).fullmatch
    for item in items:
        calls = _calls(item)
        words = item.tokens if calls is None else (*item.tokens[: calls[0]], str(sorted({len(c) for c in calls[1]})))
        lines.append(" ".join((*item.scope, *(PLACEHOLDER if is_literal(word) else word for word in words))))
    return "\n".join(lines)


def _changed(old: Item, new: Item) -> Mapping[str, str]:
    """Return constant -> new value for two versions of one source item; empty if they differ in anything but values."""
    if old.scope != new.scope:
        return {}
    before, after = _calls(old), _calls(new)
    if before is not None and after is not None and old.tokens[: before[0]] == new.tokens[: after[0]]:
        return _listed(old.tokens[2], before[1], after[1])
    if len(old.tokens) != len(new.tokens):
        return _one_value(old, new)
    found: dict[str, str] = {}
    for index, (one, other) in enumerate(zip(old.tokens, new.tokens, strict=True)):
        if one == other:
            continue
        name = _named(old.tokens, index) if re.fullmatch(LITERAL, one) and re.fullmatch(LITERAL, other) else ""
        if not name:
            return _one_value(old, new)
        found[_name(old, name)] = _value(new.tokens, index)
    return found


def _one_value(old: Item, new: Item) -> Mapping[str, str]:
    """Return name -> new value if two definitions differ in a literal expression, e.g. `int k = 4;` and `int k = 1 << 4;`."""
    for sign, end in (("=", 1), ("define", 0)):
        if sign in old.tokens and sign in new.tokens and old.tokens[:1] == new.tokens[:1]:
            cut = [each.tokens.index(sign) + 1 + (sign == "define") for each in (old, new)]
            heads = [each.tokens[:at] for each, at in zip((old, new), cut, strict=True)]
            values = [each.tokens[at : len(each.tokens) - end] for each, at in zip((old, new), cut, strict=True)]
            if heads[0] == heads[1] and all(value and all(_is_literal(word) for word in value) for value in values):
                return {_name(old, heads[0][-1] if sign == "define" else heads[0][-2]): " ".join(values[1])}
    return {}


def _is_literal(word: str) -> bool:
    return bool(re.fullmatch(LITERAL, word)) or word in GLUE


def _named(tokens: Sequence[str], index: int) -> str:
    """Return the name that belongs to the literal at position `index`; empty if it has none. It is the word before `=` or after
    `#define`. For `#pragma unroll 4` it is `pragma unroll #1`, where 1 is the number of the pragma within the source item.
    """
    at = index - 1
    while at >= 0 and (_is_literal(tokens[at]) or tokens[at] in ("{", ",", "[")):
        at -= 1
    if at >= 1 and tokens[at] == "=":
        return tokens[at - 1]
    if at >= 1 and tokens[at - 1] == "define":
        return tokens[at]
    start = max((i for i in range(index) if tokens[i] == "#"), default=-1)
    if start >= 0 and DIRECTIVE_ENDS not in tokens[start:index] and tokens[start + 1] == "pragma":
        return f"{' '.join(tokens[start + 1 : index])} #{sum(word == 'pragma' for word in tokens[:index])}"
    return ""


def _value(tokens: Sequence[str], index: int) -> str:
    """Return the text of the whole constant expression that contains the literal at position `index`."""
    first = last = index
    while first > 0 and _is_literal(tokens[first - 1]):
        first -= 1
    while last + 1 < len(tokens) and _is_literal(tokens[last + 1]):
        last += 1
    return " ".join(tokens[first : last + 1])


def _function(tokens: Sequence[str]) -> str:
    body = tokens.index("{") if "{" in tokens else len(tokens)
    heads = [tokens[i - 1] for i in range(1, body) if tokens[i] == "(" and re.fullmatch(r"[A-Za-z_]\w*", tokens[i - 1])]
    return next((name for name in heads if not name.startswith("__")), "a function")


def _calls(item: Item) -> tuple[int, list[tuple[str, ...]]] | None:
    """Parse a list of macro calls with literal arguments, `#define LIST(X) X(1,2) X(3,4)`; None for any other item. Returns the
    position of the first call among the tokens, and the arguments of each call.
    """
    tokens = item.tokens
    if len(tokens) < 9 or tokens[1] != "define" or tokens[3] != "(" or tokens[5] != ")":
        return None
    calls, at = [], 6
    while at < len(tokens):
        if tokens[at] != tokens[4] or tokens[at + 1 : at + 2] != ("(",) or ")" not in tokens[at:]:
            return None
        end = tokens.index(")", at)
        calls.append(tuple(word for word in tokens[at + 2 : end] if word != ","))
        at = end + 1
    return (6, calls) if all(re.fullmatch(LITERAL, word) for call in calls for word in call) else None


def _listed(name: str, before: list[tuple[str, ...]], after: list[tuple[str, ...]]) -> Mapping[str, str]:
    added = [",".join(call) for call in after if call not in before]
    removed = [",".join(call) for call in before if call not in after]
    if added:
        return {name: " ".join(sorted(added))}
    return {name: f"without {' '.join(sorted(removed))}"} if removed else {}


def _name(item: Item, name: str) -> str:
    """Return `name` preceded by the #if branches and structs that enclose it, and followed by the function that it is in."""
    branches = [f"[{each}]" for each in item.scope if each.startswith(("if ", "ifdef ", "ifndef "))]
    structs = [f"{found[-1]}::" for each in item.scope if (found := re.findall(r"\b(?:struct|class|union) (\w+)", each))]
    inside = f" of {_function(item.tokens)}" if "{" in item.tokens and "(" in item.tokens else ""
    return " ".join((*branches, f"{''.join(structs)}{name}{inside}"))
