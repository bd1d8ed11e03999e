"""Functions of a C library, called through ctypes. Each signature is written once: `dot="f64(const f64*, const f64*, i64)"`."""

from __future__ import annotations

import ctypes
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from expctl.harness.mistake import Mistake
from expctl.harness.report import Fault

if TYPE_CHECKING:
    from pathlib import Path

C_TYPES: dict[str, Any] = {
    "i8": ctypes.c_int8, "i16": ctypes.c_int16, "i32": ctypes.c_int32, "i64": ctypes.c_int64,
    "u8": ctypes.c_uint8, "u16": ctypes.c_uint16, "u32": ctypes.c_uint32, "u64": ctypes.c_uint64,
    "f32": ctypes.c_float, "f64": ctypes.c_double, "bool": ctypes.c_bool, "void": None,
}  # fmt: skip
_BEHIND_POINTERS_ALONE = ("f16", "bf16")
_LONG = f"i{8 * ctypes.sizeof(ctypes.c_long)}"
C_NAMES = {
    "float": "f32", "double": "f64", "char": "i8", "signed char": "i8", "unsigned char": "u8", "short": "i16",
    "unsigned short": "u16", "int": "i32", "unsigned": "u32", "unsigned int": "u32", "long": _LONG,
    "unsigned long": f"u{_LONG[1:]}",    "long long": "i64", "unsigned long long": "u64", "size_t": "u64",
    "ssize_t": "i64", "ptrdiff_t": "i64", "_Bool": "bool",
    "_Float16": "f16", "__fp16": "f16", "half": "f16", "__half": "f16", "__nv_bfloat16": "bf16", "hip_bfloat16": "bf16",
    **{f"{sign}int{bits}_t": f"{sign or 'i'}{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""C's own names, and the short one of each."""
ARRAY_TYPES = {
    "f16": "float16", "bf16": "bfloat16", "f32": "float32", "f64": "float64", "bool": "bool",
    **{f"{sign}{bits}": f"{'u' * (sign == 'u')}int{bits}" for sign in "iu" for bits in (8, 16, 32, 64)},
}  # fmt: skip
"""The type of the elements of an array that a pointer may point to."""


class Parameter(NamedTuple):
    """One parameter of a C function: `type` is a short name; a pointer to `void` takes any array."""

    type: str
    is_pointer: bool
    is_const: bool

    def __str__(self) -> str:
        return "const " * self.is_const + self.type + "*" * self.is_pointer


class Signature(NamedTuple):
    """What a C function takes and returns."""

    result: str
    parameters: tuple[Parameter, ...]


def parse_signature(name: str, text: str) -> Signature:
    """Parse `f64(const f64*, i64 n)` or `double (const double *x, long n)`. Raises Mistake."""
    match = re.fullmatch(r"\s*([\w\s]+?)\s*\((.*)\)\s*;?\s*", text, re.DOTALL) if isinstance(text, str) else None
    if match is None:
        raise Mistake(f'the signature of {name} as "f64(const f64*, const f64*, i64)"', repr(text)[:80])
    words = [] if match[2].strip() in ("", "void") else match[2].split(",")
    result = _parameter(name, match[1])
    if result.type in _BEHIND_POINTERS_ALONE:
        raise Mistake(f"{name} to return one of {', '.join(C_TYPES)}", result.type)
    return Signature(result.type, tuple(_parameter(name, word) for word in words))


def _parameter(name: str, text: str) -> Parameter:
    pointers, is_const = text.count("*"), bool(re.search(r"\bconst\b", text))
    words = re.sub(r"\b(const|restrict|__restrict__|__restrict)\b|\*", " ", text).split()
    known = {*C_TYPES, *C_NAMES, *_BEHIND_POINTERS_ALONE}
    for count in range(len(words), max(0, len(words) - 2), -1):  # the last word may be the name of the parameter
        kind = " ".join(words[:count])
        short = C_NAMES.get(kind, kind)
        if kind in known and pointers <= 1 and (pointers or (short != "void" and short in C_TYPES) or count == len(words)):
            return Parameter(short, pointers == 1, is_const)
    raise Mistake(f"a type such as f64, i64, const f64* or double in the signature of {name}", repr(text.strip()))


class CFunction:
    """One function of a loaded library. Arrays go as pointers; all arguments are checked, unless they are `prepared`."""

    def __init__(self, name: str, function: Any, signature: Signature, prepared: dict[int, int]) -> None:
        self._name, self._function, self._signature, self._prepared = name, function, signature, prepared
        function.restype = C_TYPES[signature.result]
        function.argtypes = [ctypes.c_void_p if each.is_pointer else C_TYPES[each.type] for each in signature.parameters]

    def __call__(self, *arguments: Any) -> Any:
        """Call the function. Raises Mistake for arguments that don't fit its signature."""
        known = self._prepared
        if known:
            try:
                return self._function(*[known.get(id(each), each) for each in arguments])
            except ctypes.ArgumentError:  # an array that was made within the timed call
                pass
        return self._function(*self._checked(arguments))

    def _checked(self, arguments: Sequence[Any]) -> list[Any]:
        parameters = self._signature.parameters
        if len(arguments) != len(parameters):
            listed = ", ".join(map(str, parameters))
            raise Mistake(f"{len(parameters)} arguments for {self._name}({listed})", f"{len(arguments)} arguments")
        return [self._converted(*each) for each in zip(range(1, 99), parameters, arguments, strict=False)]

    def _converted(self, number: int, parameter: Parameter, value: Any) -> Any:
        from expctl.harness import arrays

        expected = f"{parameter} as argument {number} of {self._name}"
        if not parameter.is_pointer:
            if arrays.family(value) or not arrays.is_number(value) or not _fits(parameter.type, value):
                raise Mistake(expected, f"{arrays.described(value)}; are arguments swapped?")
            return float(value) if parameter.type.startswith("f") else int(value)
        if value is None:
            return None
        if not arrays.family(value):
            raise Mistake(f"an array for {expected}", f"{arrays.described(value)}; are arguments swapped?")
        if parameter.type != "void" and arrays.type_name(value) != ARRAY_TYPES[parameter.type]:
            raise Mistake(f"an array of {ARRAY_TYPES[parameter.type]} for {expected}", arrays.described(value))
        if not arrays.is_contiguous(value):
            raise Mistake(f"a contiguous array for {expected}", f"{arrays.described(value)} with gaps or transposed")
        return arrays.address(value)


def _fits(kind: str, value: Any) -> bool:
    if kind.startswith("f"):
        return not isinstance(value, complex)
    if int(value.real) != value:
        return False
    size = 8 * ctypes.sizeof(C_TYPES[kind])
    low, high = (-(1 << (size - 1)), 1 << (size - 1)) if kind.startswith("i") else (0, 2 if kind == "bool" else 1 << size)
    return low <= int(value) < high


class CBuild:
    """A loaded C library: its functions are attributes."""

    def __init__(self, path: Path, signatures: dict[str, Signature]) -> None:
        try:
            library = ctypes.CDLL(str(path.resolve()))
        except OSError as error:
            raise Fault(f"{path.name} can't be loaded as a C library: {error}") from error
        self._prepared: dict[int, int] = {}
        for name, signature in signatures.items():
            try:
                function = getattr(library, name)
            except AttributeError:
                raise Mistake(f"a function {name} in {path.name}", _nearest(name, path)) from None
            setattr(self, name, CFunction(name, function, signature, self._prepared))

    def __getattr__(self, name: str) -> Any:
        raise Mistake(f"one of the functions of `library`: {', '.join(self._names())}", f"build.{name}")

    def _names(self) -> list[str]:
        return [name for name in vars(self) if not name.startswith("_")]

    def prepare(self, arguments: Sequence[Any]) -> None:
        """Look up the addresses of these arrays, so that the next call does not; forget those of the call before."""
        from expctl.harness.arrays import address, family

        self._prepared.clear()
        self._prepared.update((id(each), address(each)) for each in arguments if family(each))


class CLibrary:
    """A build that is a C library: `CLibrary(dot="f64(const f64*, const f64*, i64)")`, a signature for each function.

    Types are i8 to i64, u8 to u64, f32, f64, bool, void, C's own names of them, and pointers, also to f16 and bf16. A pointer
    takes an array of numpy, torch or cupy; one on a GPU gives its address there.
    """

    def __init__(self, **functions: str) -> None:
        self._functions = functions

    def load(self, artifact: Path) -> CBuild:
        """Return the loaded library. Raises Mistake for a wrong signature or a missing function, Fault for another file."""
        if not self._functions:
            raise Mistake('at least one function, as CLibrary(dot="f64(const f64*, const f64*, i64)")', "CLibrary()")
        return CBuild(artifact, {name: parse_signature(name, text) for name, text in self._functions.items()})


def _nearest(name: str, path: Path) -> str:
    import difflib

    words = {word.decode() for word in re.findall(rb"[A-Za-z_]\w{2,}", path.read_bytes())}
    mangled = next((word for word in words if re.match(rf"_Z{len(name)}{name}", word)), None)
    if mangled:
        return f'{mangled}, its name in C++: write extern "C" before it'
    near = difflib.get_close_matches(name, words, n=1, cutoff=0.75)
    return f"no such symbol; the nearest is {near[0]}" if near else "no such symbol"
