"""Renames the local names of a C++ function, so that a patch which only renames locals makes no difference.

A name counts as local if it is declared in the function: as `type name` at the start of a statement, in a parameter list or
template header, or as a lone argument of a macro in capitals that begins a statement (FOR_EACH_THREAD(thread, ...)).
"""

import re
from collections.abc import Iterator, Sequence

NAME = re.compile(r"[A-Za-z_]\w*")
CAPITALS = re.compile(r"[A-Z][A-Z0-9_]+")
MEMBER_SIGNS = (".", "->", "::")
QUALIFIERS = frozenset(
    ("const", "static", "constexpr", "volatile", "inline", "register", "extern", "mutable", "thread_local", "restrict")
)
SIZES = frozenset(("unsigned", "signed", "long", "short"))
NO_TYPES = frozenset(
    (
        "return", "else", "do", "goto", "case", "new", "delete", "throw", "using", "namespace", "operator", "sizeof",
        "if", "for", "while", "switch", "template", "struct", "union", "enum", "public", "private", "default",
        "break", "continue", "typedef", "static_assert", "asm", "pragma", "define", "this", "true", "false",
        "co_return", "co_await",
    )
)  # fmt: skip
AFTER_A_NAME = frozenset("=;,[{():>") | {"..."}
STARTS = frozenset((";", "{", "}", ")", "else", "do", "\n"))
CONDITIONS = frozenset(("for", "if", "while", "switch", "catch", "constexpr"))


def renamed(tokens: Sequence[str]) -> tuple[str, ...]:
    """Replace each local name in `tokens` by $1, $2, ... in order of declaration. Each declaration gets its own number."""
    declared = declarations(tokens)
    if not declared:
        return tuple(tokens)
    scopes: list[dict[str, str]] = [{}]
    out = []
    for index, word in enumerate(tokens):
        if word == "{":
            scopes.append(dict(scopes[-1]))
        elif word == "}" and len(scopes) > 1:
            scopes.pop()
        if index in declared:
            scopes[-1][word] = f"${declared[index]}"
        is_member = index > 0 and tokens[index - 1] in MEMBER_SIGNS
        out.append(word if is_member else scopes[-1].get(word, word))
    return tuple(out)


def declarations(tokens: Sequence[str]) -> dict[int, int]:
    """Map the position in `tokens` of each declared local or parameter to its number, from 1 in order of declaration."""
    if "(" not in tokens:
        return {}
    body = tokens.index("{") if "{" in tokens else len(tokens)
    if tokens[0] == "#":
        found = set(_macro_parameters(tokens))
    else:
        found = {index for start in _starts(tokens, body) for index in _declared(tokens, start, inside=start > body)}
    return {index: number for number, index in enumerate(sorted(found), start=1)}


def _macro_parameters(tokens: Sequence[str]) -> Iterator[int]:
    """Yield the positions of X and Y in `#define F(X, Y) ...`; none for a value in parentheses, `#define N (1)`."""
    if len(tokens) > 3 and tokens[1] == "define" and tokens[3] == "(" and ")" in tokens[:-1]:
        yield from (index for index in range(4, tokens.index(")")) if NAME.fullmatch(tokens[index]))


def _starts(tokens: Sequence[str], body: int) -> Iterator[int]:
    depth = angles = 0
    parameters = True  # until the colon of a constructor's initializers
    for index, word in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        if index < body:
            angles += (word == "<") - (word == ">")
            depth += (word == "(") - (word == ")")
            parameters = parameters and not (word == ":" and depth == 0)
            if before in ("(", ",", "<") and parameters and (depth > 0 or angles > 0):
                yield index
        elif before in STARTS or (
            before == "(" and index > 1 and (tokens[index - 2] in CONDITIONS or tokens[index - 2] == "]")
        ):
            yield index


def _declared(tokens: Sequence[str], start: int, *, inside: bool) -> set[int]:
    """Return the positions of the names that a declaration at `start` declares; empty if none begins there. `inside` says
    whether `start` is in a function's body, rather than in a parameter list.
    """
    at, sized = start, False
    while at < len(tokens) and (tokens[at] in QUALIFIERS or tokens[at] in SIZES or _is_decoration(tokens, at)):
        sized = sized or tokens[at] in SIZES
        at += 1
    if at >= len(tokens):
        return set()
    second = tokens[at + 1] if at + 1 < len(tokens) else ""
    if inside and CAPITALS.fullmatch(tokens[at]) and second == "(":
        return set(_lone_arguments(tokens, at + 2))
    if inside and tokens[at] == "using":
        return {at + 1} if at + 2 < len(tokens) and tokens[at + 2] == "=" else set()
    after_type = at if sized and not _is_type(tokens, at) else _skip_type(tokens, at)
    if after_type is None:
        return set()
    pointer = after_type
    while pointer < len(tokens) and tokens[pointer] in ("*", "&", "&&", "const", "..."):
        pointer += 1
    plain = pointer == after_type or (tokens[start - 1] if start else "") not in (")",) or at > start
    if not plain or pointer >= len(tokens):
        return set()
    if tokens[pointer] == "[" and tokens[at] == "auto":
        return {each for each in range(pointer + 1, _close(tokens, pointer)) if NAME.fullmatch(tokens[each])}
    if tokens[pointer] == "(" and tokens[pointer + 1] in ("&", "*"):
        pointer += 2  # a reference to an array, a pointer to a function; else a call
        return {pointer} if _is_name(tokens[pointer]) and tokens[pointer + 1] == ")" else set()
    found = set()
    while pointer + 1 < len(tokens) and _is_name(tokens[pointer]) and tokens[pointer + 1] in AFTER_A_NAME:
        found.add(pointer)
        following = _next_declarator(tokens, pointer + 1) if inside else None
        if following is None:
            break
        pointer = following
    return found


def _is_decoration(tokens: Sequence[str], at: int) -> bool:
    """Is the token at `at` a macro in capitals that is followed by a word, such as SHARED in `SHARED float`?"""
    return bool(CAPITALS.fullmatch(tokens[at])) and at + 1 < len(tokens) and bool(NAME.match(tokens[at + 1]))


def _lone_arguments(tokens: Sequence[str], at: int) -> Iterator[int]:
    depth = 0
    while at + 1 < len(tokens) and (tokens[at] != ")" or depth):
        depth += (tokens[at] in "([{") - (tokens[at] in ")]}")
        if not depth and tokens[at][:1].islower() and tokens[at - 1] in "(," and tokens[at + 1] in ",)":
            yield at
        at += 1


def _is_name(word: str) -> bool:
    return bool(NAME.fullmatch(word)) and word not in NO_TYPES and word not in QUALIFIERS


def _is_type(tokens: Sequence[str], at: int) -> bool:
    """Is the token at `at`, after a word such as `unsigned`, part of the type (`unsigned int n`) and not the name?"""
    return at + 1 < len(tokens) and _is_name(tokens[at]) and (_is_name(tokens[at + 1]) or tokens[at + 1] in ("*", "&"))


def _skip_type(tokens: Sequence[str], at: int) -> int | None:
    """Return the position after the type at `at`, such as `a::b<c>::d`; None if there is no type."""
    if tokens[at] == "class":  # of a template header: its type is a name
        return at + 1
    at += tokens[at] in ("::", "typename")
    while at < len(tokens) and _is_name(tokens[at]):
        at += 1
        if at < len(tokens) and tokens[at] == "<":
            closed = _close_angle(tokens, at)
            if closed is None:
                return None
            at = closed + 1
        if at + 1 < len(tokens) and tokens[at] == "::":
            at += 1
            continue
        return at
    return None


def _close_angle(tokens: Sequence[str], at: int) -> int | None:
    depth = 0
    for index in range(at, min(at + 60, len(tokens))):
        depth += (tokens[index] == "<") - (tokens[index] == ">")
        if depth == 0:
            return index
        if tokens[index] in (";", "{", "}", "&&", "||", "=", "?"):
            return None
    return None


def _close(tokens: Sequence[str], at: int) -> int:
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index] in "([{") - (tokens[index] in ")]}")
        if depth == 0:
            return index
    return len(tokens)


def _next_declarator(tokens: Sequence[str], at: int) -> int | None:
    """Return the position of the next name of a declaration with commas, such as `int a = 1, b`; None if there is none."""
    depth = 0
    for index in range(at, len(tokens)):
        depth += (tokens[index] in "([{") - (tokens[index] in ")]}")
        if depth < 0 or (tokens[index] in (";", ":") and not depth):
            return None
        if tokens[index] == "," and not depth:
            following = index + 1
            while following < len(tokens) and tokens[following] in ("*", "&"):
                following += 1
            return following
    return None
