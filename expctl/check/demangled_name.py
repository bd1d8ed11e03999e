"""Read the C++ name and parameter types out of a mangled symbol, for the part of the Itanium C++ ABI that kernels use.

Source: "Itanium C++ ABI", chapter 5.1, External Names. What is not read (lambdas, expressions, operators) leaves the symbol as
it is.
"""

import re
from dataclasses import dataclass

_BUILTINS = {
    "v": "void", "w": "wchar_t", "b": "bool", "c": "char", "a": "signed char", "h": "unsigned char", "s": "short",
    "t": "unsigned short", "i": "int", "j": "unsigned int", "l": "long", "m": "unsigned long", "x": "long long",
    "y": "unsigned long long", "n": "__int128", "o": "unsigned __int128", "f": "float", "d": "double", "e": "long double",
    "Dh": "half", "Di": "char32_t", "Ds": "char16_t", "Du": "char8_t", "Dn": "std::nullptr_t", "DF16_": "_Float16",
    "DF16b": "__bf16",
}  # fmt: skip
_BUILTIN = re.compile("|".join(sorted(_BUILTINS, key=len, reverse=True)))
_STANDARD = {"St": "std", "Sa": "std::allocator", "Sb": "std::basic_string", "Ss": "std::string"}
_LITERALS = {"i": "", "j": "u", "l": "l", "m": "ul", "x": "ll", "y": "ull"}
_MARKS = {"P": "*", "R": "&", "O": "&&"}
_QUALIFIERS = {"r": " __restrict__", "V": " volatile", "K": " const"}
_DECLARATOR = "\0"
"""Where the name of a variable would stand in a type's text: a pointer to an array is `float (*<here>)[16]`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FunctionName:
    """A function's name without arguments, e.g. `gemm<float, 4>`, and its parameter types; None if the symbol has none."""

    name: str
    parameters: tuple[str, ...] | None

    def __str__(self) -> str:
        return self.name if self.parameters is None else f"{self.name}({', '.join(self.parameters)})"


class _Unknown(Exception):
    """The symbol has a part that is not read."""


def demangled(symbol: str) -> FunctionName:
    """Return the name of a function by its symbol. A symbol that is not mangled, or not in a way that is read, is the name."""
    if symbol.startswith("_Z"):
        try:
            return _Reader(symbol.split(".")[0]).function()
        except (_Unknown, IndexError, RecursionError):
            pass
    return FunctionName(name=symbol, parameters=None)


class _Reader:
    """Reads one symbol from `at` on. `seen` are the parts that the symbol may refer to again as S_, S0_, ..."""

    def __init__(self, text: str) -> None:
        self.text, self.at = text, 2
        self.seen: list[str] = []
        self.template: list[str] = []

    def function(self) -> FunctionName:
        name, is_template = self._name()
        if is_template:
            self._type()  # what it returns
        types = []
        while self.at < len(self.text):
            types.append(_plain(self._type()))
        if not types:
            raise _Unknown
        return FunctionName(name=name, parameters=tuple(types) if types != ["void"] else ())

    def _take(self, text: str) -> bool:
        found = self.text.startswith(text, self.at)
        self.at += len(text) if found else 0
        return found

    def _name(self) -> tuple[str, bool]:
        """Return a name, and whether it ends with template arguments."""
        if self._take("N"):
            return self._nested()
        prefix = "std::" if self._take("St") else ""
        name = prefix + self._source_name()
        if not self.text.startswith("I", self.at):
            return name, False
        self.seen.append(name)
        return name + self._template_arguments(), True

    def _nested(self) -> tuple[str, bool]:
        while self.text[self.at] in _QUALIFIERS:
            self.at += 1
        name, is_known, is_template = "", True, False
        while not self._take("E"):
            if not is_known:
                self.seen.append(name)
            is_template = self.text[self.at] == "I"
            if is_template:
                name, is_known = name + self._template_arguments(), False
            elif self.text[self.at] == "S":
                is_known = not self.text.startswith("St", self.at)
                name = _plain(self._substitution())
            elif self.text[self.at] == "T":
                name, is_known = self._template_parameter(), False
            else:
                name, is_known = f"{name}::{self._source_name()}" if name else self._source_name(), False
        return name, is_template

    def _source_name(self) -> str:
        self._take("L")
        length = re.compile(r"\d+").match(self.text, self.at)
        if length is None:
            raise _Unknown
        end = length.end() + int(length[0])
        name, self.at = self.text[length.end() : end], end
        if len(name) != int(length[0]):
            raise _Unknown
        return "(anonymous namespace)" if name.startswith("_GLOBAL__N") else name

    def _number(self) -> int:
        """Return the index of a substitution or template parameter: `_` is 0, `0_` is 1; to base 36."""
        end = self.text.index("_", self.at) if "_" in self.text[self.at :] else self.at
        digits, self.at = self.text[self.at : end], end + 1
        try:
            return int(digits, 36) + 1 if digits else 0
        except ValueError:
            raise _Unknown from None

    def _substitution(self) -> str:
        for short, name in _STANDARD.items():
            if self._take(short):
                return f"{name}::{self._source_name()}" if short == "St" else name
        self.at += 1
        return self.seen[self._number()]

    def _template_parameter(self) -> str:
        self.at += 1
        return self.template[self._number()]

    def _template_arguments(self) -> str:
        found = self._arguments()
        self.template = found
        return f"<{', '.join(each for each in found if each)}>"

    def _arguments(self) -> list[str]:
        self.at += 1  # I or J
        found = []
        while not self._take("E"):
            if self._take("L"):
                found.append(self._literal())
            elif self.text[self.at] == "J":
                found.append(", ".join(self._arguments()))
            else:
                found.append(_plain(self._type()))
        return found

    def _literal(self) -> str:
        kind = self.text[self.at]
        name = _plain(self._type())
        end = self.text.find("E", self.at)
        digits, self.at = self.text[self.at : end].replace("n", "-"), end + 1
        if end < 0 or not digits.removeprefix("-").isdigit():
            raise _Unknown
        if kind == "b":
            return "true" if digits == "1" else "false"
        return digits + _LITERALS[kind] if kind in _LITERALS else f"({name}){digits}"

    def _type(self) -> str:
        """Return a type's text, with _DECLARATOR in it."""
        if builtin := _BUILTIN.match(self.text, self.at):
            self.at = builtin.end()
            return _BUILTINS[builtin[0]] + _DECLARATOR
        first = self.text[self.at]
        if first == "S" and not self.text.startswith("St", self.at):
            name = self._substitution()
            if not self.text.startswith("I", self.at):
                return name if _DECLARATOR in name else name + _DECLARATOR
            return self._remember(_plain(name) + self._template_arguments_of_type() + _DECLARATOR)
        return self._remember(self._compound(first))

    def _compound(self, first: str) -> str:
        if first in _MARKS:
            self.at += 1
            return _marked(self._type(), _MARKS[first])
        if first in _QUALIFIERS:
            words = ""
            while self.text[self.at] in _QUALIFIERS:
                words, self.at = _QUALIFIERS[self.text[self.at]] + words, self.at + 1
            left, right = self._type().split(_DECLARATOR)
            return f"{left}{words}{_DECLARATOR}{right}"
        if first == "A":
            return self._array()
        if self._take("Dv"):
            return self._vector()
        if self._take("Dp"):
            return self._type()
        if first == "T":
            return self._template_parameter() + _DECLARATOR
        if first == "F" or first == "D":
            raise _Unknown
        before = self.template
        name, _ = self._name()
        self.template = before
        return name + _DECLARATOR

    def _array(self) -> str:
        end = self.text.index("_", self.at) if "_" in self.text[self.at :] else len(self.text)
        extent, self.at = self.text[self.at + 1 : end], end + 1
        left, right = self._type().split(_DECLARATOR)
        return f"{left}{_DECLARATOR}[{extent}]{right}"

    def _vector(self) -> str:
        end = self.text.index("_", self.at) if "_" in self.text[self.at :] else len(self.text)
        extent, self.at = self.text[self.at : end], end + 1
        return f"{_plain(self._type())} vector[{extent}]{_DECLARATOR}"

    def _template_arguments_of_type(self) -> str:
        before = self.template
        found = self._template_arguments()
        self.template = before
        return found

    def _remember(self, text: str) -> str:
        self.seen.append(text)
        return text


def _plain(text: str) -> str:
    return text.replace(_DECLARATOR, "").strip()


def _marked(text: str, mark: str) -> str:
    left, right = text.split(_DECLARATOR)
    return f"{left} ({mark}{_DECLARATOR}){right}" if right.startswith("[") else f"{left}{mark}{_DECLARATOR}{right}"
