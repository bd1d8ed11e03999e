"""Find the functions that a C file exports, and guess a harness from the types of their parameters."""

import keyword
import re
from collections.abc import Iterator

from expctl.domain.protocol.first_protocol import Sketch

DEFINITION = re.compile(
    r'^(?:extern\s+"C"\s+)?(?P<result>(?:const\s+|unsigned\s+|signed\s+|long\s+)*\w+)\s+(?P<name>[A-Za-z_]\w*)\s*'
    r"\((?P<parameters>[^(){};]*)\)\s*\{",
    re.MULTILINE | re.ASCII,
)
PARAMETER = re.compile(r"(?P<type>.*?[\s*])(?P<name>[A-Za-z_]\w*)(?:\[\d*\])?", re.DOTALL | re.ASCII)
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
NOT_EXPORTED = ("static", "inline", "else", "return", "typedef", "struct", "__global__", "__device__")
NUMPY = {
    "double": "float64", "float": "float32", "int": "int32", "long": "int64", "size_t": "uint64", "char": "int8",
    "unsigned char": "uint8", "int8_t": "int8", "uint8_t": "uint8", "int16_t": "int16", "uint16_t": "uint16",
    "int32_t": "int32", "uint32_t": "uint32", "int64_t": "int64", "uint64_t": "uint64", "unsigned": "uint32",
    "unsigned int": "uint32", "long long": "int64", "void": "uint8",
}  # fmt: skip
TAKEN = ("self", "build", "rng", "np")
FLOATS = ("float", "double")
BYTE_RANGES = {"uint8": (0, 256), "int8": (-128, 128)}
"""Every value of a byte; wider integers may be indices, so they are drawn small."""


def has_main(text: str) -> bool:
    """Return whether a C text defines `main`."""
    return re.search(r"^\s*(?:int|void)\s+main\s*\(", text, re.MULTILINE) is not None


def sketches(text: str) -> Iterator[Sketch]:
    """Yield a sketch of each exported function of a C text whose parameters are numbers and pointers to numbers."""
    for found in DEFINITION.finditer(COMMENT.sub(" ", text)):
        result = " ".join(found["result"].split())
        parameters = [PARAMETER.fullmatch(each.strip()) for each in found["parameters"].split(",")]
        if result.split()[0] in NOT_EXPORTED or not all(parameters):
            continue
        pairs = [(_type(each["type"]), _name(each["name"])) for each in parameters if each is not None]
        if any("*" in kind for kind, _ in pairs) and all(_base(kind) in NUMPY for kind, _ in pairs):
            yield _sketch(found["name"], result, pairs)


def _sketch(name: str, result: str, parameters: list[tuple[str, str]]) -> Sketch:
    written = [(kind, each) for kind, each in parameters if "*" in kind and "const" not in kind]
    read = [(kind, each) for kind, each in parameters if "*" in kind and "const" in kind] or written
    outputs = [(kind, each) for kind, each in written if (kind, each) not in read]
    numbers = [each for kind, each in parameters if "*" not in kind and _base(kind) in FLOATS]
    first = read[0][1]
    words = [each if "*" in kind or each in numbers else f"{first}.size" for kind, each in parameters]
    return Sketch(
        function=name,
        parameters=(*(each for _, each in read), *numbers, *(each for _, each in outputs)),
        inputs=_tuple([*(_drawn(_base(kind)) for kind, _ in read), *("1.5" for _ in numbers)]),
        outputs=_tuple([f'np.empty(n, "{NUMPY[_base(kind)]}")' for kind, _ in outputs]) if outputs else "",
        call=f"build.{name}({', '.join(words)})",
        signature=f"{result}({', '.join(f'{kind}{each}' for kind, each in parameters)})",
    )


def _name(name: str) -> str:
    """Return a parameter's name; one that means something else in the harness gets an underscore."""
    return f"{name}_" if keyword.iskeyword(name) or name in TAKEN else name


def _tuple(words: list[str]) -> str:
    return ", ".join(words) + ("," if len(words) == 1 else "")


def _drawn(base: str) -> str:
    dtype = NUMPY[base]
    if base in FLOATS:
        return f'rng.standard_normal(n, "{dtype}")'
    low, high = BYTE_RANGES.get(dtype, (0, 100))
    return f'rng.integers({low}, {high}, n, "{dtype}")'


def _type(text: str) -> str:
    """Return a C type in one form: `const double *` with its star at the end, or `long ` with a space."""
    words = [word for word in re.findall(r"\w+|\*", text) if word not in ("restrict", "__restrict__", "__restrict")]
    return " ".join(word for word in words if word != "*") + " " + "*" * words.count("*")


def _base(kind: str) -> str:
    return kind.replace("const ", "").rstrip("* ").strip() if kind.count("*") < 2 else ""
