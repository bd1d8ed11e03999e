"""The fault for which a source doesn't compile, as a text that is the same for the same mistake at another place. Pure."""

import re

# `stage.h:17:38: error: ...` of clang, `stage.h(17): error: ...` of nvcc
ERROR = re.compile(r"^(?:.*?(?::\d+(?::\d+)?: |\(\d+\): ))?(?:fatal )?error(?: #[\w-]+)?: (.*)$", re.MULTILINE)
NAMELESS = "it does not compile"
"""The fault where the compiler's words are not understood. It may be any, so it makes no two changes the same."""
INSTANTIATED = re.compile(r"note: in instantiation of (?:[\w ]*?(?:function|class|member)[\w ]*) '([^']*)'")
VIABLE = re.compile(r"note: (candidate .*)$", re.MULTILINE)
REQUIREMENT = re.compile(r" due to requirement '[^']*'")
ALIAS = re.compile(r"'[^']*' \(aka '([^']*)'\)")
QUALIFIER = re.compile(r"\b\w+::(?=\w)")
SAYS_ALL = re.compile(r"needs target feature|static assertion failed.*: ")


def compile_fault(output: str) -> str:
    """Return the first error in a compiler's output without its place; empty if there is none. Types stand there as what their
    aliases mean. An error that may have many causes comes with the function in which it is, and what the compiler tried.
    """
    found = ERROR.search(output)
    if found is None:
        return ""
    message = ALIAS.sub(r"'\1'", REQUIREMENT.sub("", found[1]))
    if SAYS_ALL.search(message):
        return message
    until = ERROR.search(output, found.end())
    rest = output[found.end() : until.start() if until else None]
    where = INSTANTIATED.search(rest)
    tried = sorted({QUALIFIER.sub("", ALIAS.sub(r"'\1'", each)) for each in VIABLE.findall(rest)})
    return "\n".join([message, *([_bare(where[1])] if where else []), *tried])


def _bare(name: str) -> str:
    """Return a name without template arguments."""
    depth, kept = 0, []
    for letter in name:
        depth -= letter == ">"
        kept += [letter] if not depth else []
        depth += letter == "<"
    return "".join(kept).replace("<", "").replace(">", "")
