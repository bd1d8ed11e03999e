"""What a preprocessed source (clang -E -P) says of a build: the same text by the same command is the same machine code.

That holds only where the compiler reads nothing else and no position in a file reaches the code. Where that isn't certain,
there is no hash, and the build is made.
"""

import hashlib
import re
from collections.abc import Sequence
from pathlib import Path

# Options of optimisation, macros, folders of headers, language, warnings, debug information and machine. Those left out put
# positions in a file into the code (sanitizers, coverage, OpenMP), read files (profiles), go to linker and assembler, or make
# errors of warnings, which look at indents and macros.
PLAIN_FLAG = re.compile(
    r"-(?:O\w*|[DUI].+|std=[\w+]+|g[\w-]*|W(?!error)\w[\w=-]*"
    r"|(?:f(?![\w-]*(?:profile|coverage|sanitize|module|plugin|openmp))|m(?!llvm))[\w-]+(?:=[\w.+-]+)?)"
)
# Without one of these, `zig cc` adds a sanitizer, whose reports name positions.
OPTIMISED = re.compile(r"-O(?:[123sz]|fast)")
# Files beyond the text; positions that the preprocessor leaves to the compiler (it expands __LINE__ and __FILE__ itself).
BEYOND_THE_TEXT = tuple(
    re.compile(each)  # alone, each is looked for by the letters that it begins with: several times as fast as all together
    for each in (
        rb"#\s*(?:embed|pragma\s+\w+\s+diagnostic\s+(?:error|fatal))",  # warnings look at indents and macros
        rb"__has_embed",
        rb"incbin",
        rb"__builtin_(?:LINE|COLUMN|FILE|FILE_NAME|source_location|FUNCSIG)\b",
        rb"__PRETTY_FUNCTION__",
        rb"__FUNCSIG__",
    )
)
ASSEMBLY = re.compile(rb"\b(?:asm|__asm|__asm__)\b")
PLAIN_ASSEMBLY = re.compile(
    rb"\b(?:asm|__asm|__asm__)\b(?:\s+(?:volatile|__volatile__))*\s*\("
    rb'((?:\s*"(?:[^"\\\n]|\\["\\nt])*")+)\s*[:)]'
)
DIRECTIVE = re.compile(rb"\.(?!\d)")  # .incbin and .include read files, .macro can make their names


def flags_tell_all(flags: Sequence[str], tree: Path) -> bool:
    """Do these compiler options read no file of `tree` beyond the source and its headers, as far as we know them?

    Without optimisation the answer is no.
    """
    level = [flag for flag in flags if flag.startswith("-O")][-1:]
    if not any(map(OPTIMISED.fullmatch, level)):
        return False
    values = (flag.partition("=")[2] for flag in flags if not flag.startswith("-D"))
    return all(PLAIN_FLAG.fullmatch(flag) for flag in flags) and not any((tree / each).is_file() for each in values if each)


def source_hash(command: Sequence[str], text: bytes, *, is_assembled: bool = True) -> str:
    """Return the SHA-256 of a preprocessed source, without indents and blank lines, and of the command that made it.

    "" where the text may not tell all of the machine code: it is empty, embeds files, asks for positions, or, where what the
    compiler writes `is_assembled`, has directives of an assembler.
    """
    if not text or any(each.search(text) for each in BEYOND_THE_TEXT):
        return ""
    found = PLAIN_ASSEMBLY.findall(text) if is_assembled else []
    if is_assembled and len(found) < len(ASSEMBLY.findall(text)):
        return ""
    if any(DIRECTIVE.search(re.sub(rb'"\s*"', b"", each)) for each in found):
        return ""
    if b'R"' not in text:  # a raw string may hold blank lines and indents
        text = b"\n".join(filter(None, [line.strip(b" \t\r") for line in text.split(b"\n")]))
    return hashlib.sha256("\0".join(command).encode() + b"\0" + text).hexdigest()
