"""Names that one function declares for itself, so that renaming them changes nothing. Everything else keeps its name: members,
functions, macros, builtins, constants of a file.

A name counts as declared where a declaration stands: `type name` after the start of a statement, in a parameter list or a
template header, or alone among the arguments of a macro in capitals that begins a statement (FOR_EACH_THREAD(thread, ...)).
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
    """`tokens` with every local name as $1, $2, ... in the order of appearance."""
    local = local_names(tokens)
    if not local:
        return tuple(tokens)
    numbers: dict[str, str] = {}
    out = []
    for index, word in enumerate(tokens):
        before = tokens[index - 1] if index else ""
        if word in local and before not in MEMBER_SIGNS:
            out.append(numbers.setdefault(word, f"${len(numbers) + 1}"))
        else:
            out.append(word)
    return tuple(out)


def local_names(tokens: Sequence[str]) -> frozenset[str]:
    """Names that the item declares for itself: of a function all, of anything else those of its parameter lists."""
    if "(" not in tokens:
        return frozenset()
    if tokens[0] == "#":
        return frozenset(_macro_parameters(tokens))
    body = tokens.index("{") if "{" in tokens else len(tokens)
    found: set[str] = set()
    for start in _starts(tokens, body):
        found |= _declared(tokens, start, inside=start > body)
    return frozenset(found)


def _macro_parameters(tokens: Sequence[str]) -> Iterator[str]:
    """X and Y of `#define F(X, Y)`. Without white space, `#define N (1)` looks the same; its parentheses hold no name alone."""
    if len(tokens) > 3 and tokens[1] == "define" and tokens[3] == "(" and ")" in tokens:
        words = [word for word in tokens[4 : tokens.index(")")] if word != ","]
        if len(tokens) > tokens.index(")") + 1:
            yield from (word for word in words if NAME.fullmatch(word))


def _starts(tokens: Sequence[str], body: int) -> Iterator[int]:
    """Indices at which a declaration may begin."""
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


def _declared(tokens: Sequence[str], start: int, *, inside: bool) -> set[str]:
    """The names that the declaration at `start` declares; none if there is no declaration."""
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
        return {second} if at + 2 < len(tokens) and tokens[at + 2] == "=" else set()
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
        return {word for word in tokens[pointer + 1 : _close(tokens, pointer)] if NAME.fullmatch(word)}
    if tokens[pointer] == "(" and tokens[pointer + 1] in ("&", "*"):
        pointer += 2  # a reference to an array, a pointer to a function; else a call
        return {tokens[pointer]} if _is_name(tokens[pointer]) and tokens[pointer + 1] == ")" else set()
    found = set()
    while pointer + 1 < len(tokens) and _is_name(tokens[pointer]) and tokens[pointer + 1] in AFTER_A_NAME:
        found.add(tokens[pointer])
        following = _next_declarator(tokens, pointer + 1) if inside else None
        if following is None:
            break
        pointer = following
    return found


def _is_decoration(tokens: Sequence[str], at: int) -> bool:
    """A macro in capitals before a type, as SHARED or DEVICE."""
    return bool(CAPITALS.fullmatch(tokens[at])) and at + 1 < len(tokens) and bool(NAME.match(tokens[at + 1]))


def _lone_arguments(tokens: Sequence[str], at: int) -> Iterator[str]:
    """Words in small letters that are a whole argument each."""
    depth = 0
    while at + 1 < len(tokens) and (tokens[at] != ")" or depth):
        depth += (tokens[at] in "([{") - (tokens[at] in ")]}")
        if not depth and tokens[at][:1].islower() and tokens[at - 1] in "(," and tokens[at + 1] in ",)":
            yield tokens[at]
        at += 1


def _is_name(word: str) -> bool:
    return bool(NAME.fullmatch(word)) and word not in NO_TYPES and word not in QUALIFIERS


def _is_type(tokens: Sequence[str], at: int) -> bool:
    """After `unsigned`: is this word a type (then a name follows), or the name itself?"""
    return at + 1 < len(tokens) and _is_name(tokens[at]) and (_is_name(tokens[at + 1]) or tokens[at + 1] in ("*", "&"))


def _skip_type(tokens: Sequence[str], at: int) -> int | None:
    """The index behind `a::b<c>::d`; None if no type stands there."""
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
    """The name after the next comma of the same declaration; None at its end."""
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
