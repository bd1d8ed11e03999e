"""Splits C-like code and shell scripts into words without comments and white space.

For a text that can't be split with certainty the result is None, so that different programs never look equal.
"""

import re

# Alternatives in a compiler's order: a quote inside a comment, a raw string or a number opens nothing.
C_PART = re.compile(
    r"(?P<comment>//[^\n]*|/\*.*?\*/)"
    r'|(?P<raw>(?:u8|[uUL])?R"(?P<mark>[^()\\\s]{0,16})\(.*?\)(?P=mark)")'
    r"|(?P<string>\"(?:\\.|[^\"\\\n])*\"|'(?:\\.|[^'\\\n])*')"
    r"|(?P<word>[A-Za-z_$]\w*|\.?\d(?:[eEpP][+-]|'?\w|\.)*)"
    r"|(?P<sign><=>|<<=|>>=|\.\.\.|->\*|::|->|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|##|[^\s\w\"'])"
    r"|(?P<line_end>\n)|(?P<space>[^\S\n]+)",
    re.DOTALL,
)
# Here documents, quotes with escapes of their own, and expansions inside which a sign means something else.
SHELL_UNSURE = re.compile(r"<<|\$'|`|\$\{[^}\n]*[\s'\"\\{]")
COMMENT_STARTS = " \t;&|()"


def c_words(text: str) -> list[str] | None:
    """Return the tokens of C-like code without comments; None if a quote or comment isn't closed. A preprocessor line keeps its
    line end, and its white space as one space: `#define f (x)` differs from `#define f(x)`.
    """
    if 'R"' not in text:  # in a raw string a line end behind a backslash stands for itself
        text = re.sub(r"\\\r?\n", "", text)
    elif re.search(r"\\\r?\n", text):
        return None
    text = text.rstrip() + "\n"
    words: list[str] = []
    at, starts_line, directive = 0, True, False
    while at < len(text):
        part = C_PART.match(text, at)
        if part is None:
            return None
        at, kind = part.end(), part.lastgroup
        if kind == "line_end":
            if directive:
                words[-1:] = ["\n"] if words[-1] == " " else [words[-1], "\n"]
            starts_line, directive = True, False
        elif kind in ("space", "comment"):
            words += [" "] if directive and words[-1] not in (" ", "#") else []
        else:
            opens = starts_line and part[0] == "#"
            words += ["\n", "#"] if opens else [part[0]]
            directive, starts_line = directive or opens, False
    return words


def shell_words(text: str) -> list[str] | None:
    """Return the lines of a shell script without comment lines, blank lines, indents and trailing white space. A comment after
    a command stays. None if a here document or nested quotes make it uncertain what is a comment.
    """
    if SHELL_UNSURE.search(text):
        return None
    words: list[str] = []
    quote, goes_on = "", False
    for number, line in enumerate(text.split("\n")):
        inside = bool(quote) or goes_on
        if inside and line.startswith("#") and not quote:
            return None
        if not inside and number and (not line.strip() or line.lstrip().startswith("#")):
            continue
        ended = _quote_after(line, quote)
        if ended is None:
            return None
        quote, goes_on = ended
        kept = line if inside else line.lstrip()
        words.append(kept if quote or goes_on or kept.rstrip().endswith("\\") else kept.rstrip())
    return words


def _quote_after(line: str, quote: str) -> tuple[str, bool] | None:
    """Return (the quote open after a shell `line` that begins inside `quote`, whether the line ends in a backslash). No quote
    is ""; the result is None if it is uncertain.
    """
    at = 0
    while at < len(line):
        letter = line[at]
        if quote != "'" and letter == "\\":
            at += 1
            if at == len(line):
                return quote, True
        elif quote == '"' and line.startswith("$(", at):
            return None
        elif letter in ("'", '"') and quote in ("", letter):
            quote = "" if quote else letter
        elif letter == "#" and not quote and (at == 0 or line[at - 1] in COMMENT_STARTS):
            return "", False
        at += 1
    return quote, False
