"""Splits C-like source text into items: functions, members, definitions and directives, without comments and white space.

Versions of a file are compared item by item. An item includes the headers of the braces and #if branches around it, so that an
equal line in another branch is another item. This is no parser of C++: where it splits wrongly, it does so alike in both
versions.
"""

import hashlib
import re
from functools import lru_cache

from msgspec import Struct, field

from expctl.domain.patch.local_names import renamed

C_SUFFIXES = (".h", ".hpp", ".hip", ".c", ".cc", ".cpp", ".cu", ".cuh", ".cl", ".inc")
HASH_COMMENTS = (".py", ".sh", ".yaml", ".yml", ".toml", ".cmake", ".mk")
KEY_DIGITS = 16
TEXTS_KEPT, ITEMS_KEPT = 8, 2048
"""The last ones: a file is split before and after a patch, and where a rule asks what has changed in it since."""
TOKEN = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?(?:\*/|\Z))"
    r"|(?P<string>\"(?:\\.|[^\"\\\n]){0,500}\"|'(?:\\.|[^'\\\n]){0,500}')"  # bounded: unclosed quotes cost time
    r"|(?P<word>[A-Za-z_]\w*|\.?\d(?:[eEpP][+-]|[\w.']\b|[\w.])*)"
    r"|(?P<sign><<=|>>=|\.\.\.|::|->|\+\+|--|<<|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|[^\s\w])",
    re.DOTALL,
)
DIRECTIVE_ENDS = "\n"
LENGTH_MAX = 200_000  # of a text that is split into more than lines
HEADER_MAX = 400
OPENS, CLOSES = "([", ")]"


class Item(Struct, frozen=True, kw_only=True):
    """A function, definition or directive as `tokens`. `scope` are the headers of the blocks and #ifs that enclose it."""

    scope: tuple[str, ...]
    tokens: tuple[str, ...]

    @property
    def key(self) -> str:
        """Hash of the item and its scope (16 hex digits), which doesn't depend on the names of local variables."""
        return _key(self)


@lru_cache(maxsize=ITEMS_KEPT)
def _key(item: Item) -> str:
    text = "\x1f".join((*item.scope, "", *renamed(item.tokens)))
    return hashlib.sha256(text.encode(errors="replace")).hexdigest()[:KEY_DIGITS]


@lru_cache(maxsize=TEXTS_KEPT)
def items_of(path: str, text: str) -> tuple[Item, ...]:
    """Split the text of file `path` into items: functions, definitions and directives in C-like languages, else lines."""
    if path.endswith(C_SUFFIXES) and len(text) <= LENGTH_MAX:
        return _Cutter().cut(text)
    hashed = path.endswith(HASH_COMMENTS)
    lines = (re.sub(r"(^|\s)#.*", "", line) if hashed else line for line in text.splitlines())
    return tuple(Item(scope=(_indent(line),), tokens=tuple(line.split())) for line in lines if line.strip())


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


class _Cutter(Struct):
    items: list[Item] = field(default_factory=list)
    braces: list[str] = field(default_factory=list)
    branches: list[str] = field(default_factory=list)
    pending: list[str] = field(default_factory=list)

    def cut(self, text: str) -> tuple[Item, ...]:
        inner = depth = 0  # braces inside one item, open parentheses
        for line_of_directive, word in _tokens(text):
            if line_of_directive is not None:
                self._directive(line_of_directive, inner + depth)
                continue
            depth += (word in OPENS) - (word in CLOSES)
            if word == "{" and (inner or depth > 0 or not self._opens_scope()):
                inner += 1
            elif word == "{":
                self.braces.append(" ".join(self.pending))
                self.pending = []
                continue
            elif word == "}" and inner:
                inner -= 1
                self.pending.append(word)
                if not inner and depth <= 0 and not self._goes_on():
                    self._flush()
                continue
            elif word == "}":
                self._flush()
                header = self.braces.pop() if self.braces else ""
                self.pending = [] if header.startswith(("namespace", "extern")) else [f"of {header}"]
                continue
            self.pending.append(word)
            if word == ";" and not inner and depth <= 0:
                depth = 0
                self._flush()
        self._flush()
        return tuple(self.items)

    def _opens_scope(self) -> bool:
        """Judged by the tokens before it, does the next `{` open a namespace, struct, class, union or extern "C"?"""
        words = _after_template(self.pending)
        if words[:1] == ["extern"]:
            return len(words) == 2
        return bool({"namespace", "struct", "class", "union"} & set(words[:3])) and "(" not in _without_groups(words)

    def _goes_on(self) -> bool:
        """Does the item continue after its closing brace, up to a semicolon, as an initializer or enum does?"""
        words = _without_groups(self.pending[:HEADER_MAX])
        body = words.index("{") if "{" in words else len(words)
        return ("=" in words[:body] and "operator" not in words) or words[:1] in (["enum"], ["typedef"])

    def _directive(self, line: str, inside: int) -> None:
        words = [word for _, word in _tokens(line.replace("#", " ", 1))]
        name = words[0] if words else ""
        if inside or (self.pending and not self.pending[0].startswith("of ")):
            self.pending += ["#", *words, DIRECTIVE_ENDS]
        elif name in ("if", "ifdef", "ifndef"):
            self.branches.append(" ".join(words))
        elif name in ("else", "elif") and self.branches:
            self.branches[-1] += f" | {' '.join(words)}"
        elif name == "endif" and self.branches:
            self.branches.pop()
        elif words:
            self.items.append(Item(scope=self._scope(), tokens=("#", *words)))

    def _flush(self) -> None:
        if [word for word in self.pending if word != ";" and not word.startswith("of ")]:
            self.items.append(Item(scope=self._scope(), tokens=tuple(self.pending)))
        self.pending = []

    def _scope(self) -> tuple[str, ...]:
        return (*self.branches, *self.braces)


def _tokens(text: str) -> "list[tuple[str | None, str]]":
    """Split `text` into pairs: (None, token) for code, (the whole line, "#") for a preprocessor directive."""
    spliced = re.sub(r"\\\r?\n", " ", text)
    found: list[tuple[str | None, str]] = []
    at, starts_line = 0, True
    while at < len(spliced):
        letter = spliced[at]
        if letter.isspace():
            starts_line = starts_line or letter == "\n"
            at += 1
            continue
        if letter == "#" and starts_line:
            end = spliced.find("\n", at)
            end = len(spliced) if end < 0 else end
            found.append((_uncommented(spliced[at:end]), "#"))
            at = end
        else:
            match = TOKEN.match(spliced, at)
            at = match.end() if match else at + 1
            if match and match.lastgroup != "comment":
                found.append((None, match[0]))
        starts_line = False
    return found


def _uncommented(line: str) -> str:
    return re.sub(r"/\*.*?\*/", " ", line.split("//")[0] if '"' not in line else line)


def _after_template(words: list[str]) -> list[str]:
    if words[:1] != ["template"]:
        return words
    depth = 0
    for index, word in enumerate(words):
        depth += (word == "<") - (word == ">")
        if index > 1 and depth == 0:
            return words[index + 1 :]
    return words


def _without_groups(words: list[str]) -> list[str]:
    """Return `words` with parentheses emptied, and without alignas, __attribute__ and __launch_bounds__."""
    out: list[str] = []
    depth = 0
    for word in words:
        if word == "(" and depth == 0 and out and out[-1] in ("alignas", "__attribute__", "__launch_bounds__"):
            depth = 1
            out.pop()
        elif depth or word == "(":
            depth += (word == "(") - (word == ")")
            out += ["("] if depth == 1 and word == "(" and out[-1:] != ["("] else []
        else:
            out.append(word)
    return out
