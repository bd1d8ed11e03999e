"""Take names of kernels apart into words, so that rules and comparisons see words and not letters anywhere in a name."""

import re

_CAMEL = re.compile(r"(?<=[a-z])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|(?<=\d)(?=[A-Z][a-z])|(?<=[A-Z])(?=(?:CUDA|GPU)(?![a-z]))")
_DOT = re.compile(r"(?<=[a-z])DOT(?=[A-Za-z])")
"""What DaCe writes for the dots of a module's path."""
_MANGLED = re.compile(r"_ZN?[A-Z]*(?=\d)")
_LENGTH = re.compile(r"\d{1,3}")


def words_of(name: str) -> str:
    """Return the words of a name in lower case, with one space between them: `nchwToNhwcKernel` becomes `nchw to nhwc kernel`.

    The namespaces of fbgemm and flashinfer are left out: their kernels do all kinds of work.
    """
    spaced = _CAMEL.sub(" ", re.sub(r"[^0-9A-Za-z]+", " ", _DOT.sub(" ", name)))
    return re.sub(r"\b(?:fbgemm(?: gpu)?|flash ?infer)\b", "", spaced.lower()).strip()


def unmangled(name: str) -> str:
    """Return the identifiers of a mangled C++ name, each of which has its length before it, as `a::b<c>(d)`: those of the
    function, of template arguments (of templates with parameters among them; of the types by which SYCL names kernels), of
    parameters. Other names stay as they are.
    """
    start = _MANGLED.match(name)
    if start is None:
        return name
    nested, typed = start[0].startswith("_ZN"), start[0].startswith("_ZT")
    own: list[str] = []
    arguments: list[str] = []
    parameters: list[str] = []
    into, at = own, start.end()
    while length := _LENGTH.search(name, at):
        between = name[at : length.start()]
        if into is own and own and (between or not nested):
            given = not typed and not between.startswith("I") and (not nested or between.startswith("E"))
            into = parameters if given else arguments
        text = name[length.end() : length.end() + int(length[0])]
        at = length.end() + (len(text) if text[:1].isalpha() or text[:1] == "_" else 0)
        into += [text] if at > length.end() else []
    return f"{'::'.join(own)}<{', '.join(arguments)}>({', '.join(parameters)})"
