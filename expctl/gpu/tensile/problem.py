"""Parse the head of a Tensile name: which tensors are multiplied, and their types.

`Cijk_Ailk_Bljk_HHS_BH`: C[i,j,k] is the sum over l of A[i,l,k] B[l,j,k]. A tensor's first index is contiguous in memory, so A
is transposed if its first index is summed over, and B if its first index isn't. Next are letters for the types (of the factors,
of C and D, of the arithmetic; before them those of A and B if they are converted first), then flags.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from expctl.gpu.tensile.flags import flag_words
from expctl.gpu.tensile.types import TYPE, TYPES, types_of

TENSORS = re.compile(r"C([a-z]+)_A([a-zA-Z]+?)(C?)_B([a-zA-Z]+?)(C?)(?:_(.*))?", re.ASCII)
# B UseBeta, H HighPrecisionAccumulate, R Fp16AltImpl (RZ its rounding), I UseInitialStridesAB, Ic UseInitialStridesCD
FLAGS = re.compile(r"BH?(?:RZ?)?I?(?:Ic)?", re.ASCII)
MATH = re.compile(r"M[A-Z]\d?", re.ASCII)
TYPES_AND_FLAGS = re.compile(f"((?:{TYPE})+?)(BH?(?:RZ?)?I?(?:Ic)?)", re.ASCII)
GLUED = re.compile(r"(.*B[HR]*)(Bias.*)", re.ASCII)


@dataclass(frozen=True, slots=True, kw_only=True)
class Operand:
    """One factor (A or B) of the product: its indices as written, and its type in memory, "" where the name doesn't say."""

    indices: str
    transposed: bool
    conjugated: bool
    type: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """The product that a kernel computes: formula, factors, and number types as letters, "" where the name doesn't say. The
    factors are converted to type `multiplied`; `result` is the type of C and D, `computed` that of the arithmetic.
    """

    formula: str
    a: Operand
    b: Operand
    multiplied: str
    result: str
    computed: str
    uses_beta: bool
    flags: tuple[str, ...]

    @property
    def layout(self) -> str:
        """Return one letter for A and one for B: N as it is, T transposed, C conjugated; e.g. `NT`."""
        return "".join("C" if each.conjugated else "T" if each.transposed else "N" for each in (self.a, self.b))


def read_problem(head: str) -> tuple[Problem, tuple[str, ...]] | None:
    """Return the problem that `head` (a kernel name up to its tile) states, and the tokens that aren't understood. Returns None
    if `head` names no tensors.
    """
    found = TENSORS.fullmatch(head)
    if found is None:
        return None
    c, a, conjugate_a, b, conjugate_b, rest = found.groups()
    tokens = [part for token in (rest or "").split("_") for part in _split_glued(token) if part]
    type_tokens, letters, others = _parts(tokens)
    types = _types(type_tokens, letters)
    words, unrecognised = flag_words(others)
    summed = [letter for letter in a if letter.lower() not in c]

    def operand(indices: str, conjugated: str, plain: bool, short: str) -> Operand:
        return Operand(indices=indices, transposed=not plain, conjugated=bool(conjugated), type=short)

    problem = Problem(
        formula=f"C[{','.join(c)}] = sum over {','.join(summed) or 'nothing'} of A[{','.join(a)}] B[{','.join(b)}]",
        a=operand(a, conjugate_a, a[0] not in summed, types[0]),
        b=operand(b, conjugate_b, b[0] in summed, types[1]),
        multiplied=types[2],
        result=types[3],
        computed=types[4],
        uses_beta="B" in letters,
        flags=(*_letter_words(letters), *words),
    )
    return problem, unrecognised if types[2] else (*type_tokens, *unrecognised)


def _split_glued(token: str) -> Sequence[str]:
    """Split `BBiasH` into `B` and `BiasH`: TensileLite of 2023 left out the underscore."""
    found = GLUED.fullmatch(token)
    return found.groups() if found else (token,)


def _parts(tokens: Sequence[str]) -> tuple[Sequence[str], str, Sequence[str]]:
    """Split the tokens after the tensors into (tokens of types, one-letter flags as one text, other tokens). The flags may be
    glued to a single token of types, e.g. `HBH` is type `H` and flags `BH`.
    """
    for index, token in enumerate(tokens[1:4], start=1):
        if FLAGS.fullmatch(token):
            return tokens[:index], token, tokens[index + 1 :]
        if not TYPES.fullmatch(token) and not MATH.fullmatch(token):
            break
    whole = TYPES_AND_FLAGS.fullmatch(tokens[0]) if tokens else None
    after = 2 if len(tokens) > 1 and MATH.fullmatch(tokens[1]) else 1  # a math type follows: SB_MX
    return ([whole[1], *tokens[1:after]], whole[2], tokens[after:]) if whole else (tokens[:1], "", tokens[1:])


def _types(tokens: Sequence[str], letters: str) -> tuple[str, str, str, str, str]:
    """Return the types of A, of B, of the multiplied values, of C and D, and of the computation; "" where not given."""
    math = next((token[1:] for token in tokens if MATH.fullmatch(token)), "")
    parts = [types_of(token) for token in tokens if not MATH.fullmatch(token)]
    last = [each for part in parts[-2:] for each in part]
    memory: list[str] = []
    if len(parts) == 2 and len(parts[1]) >= 3:  # F8H_HHS: the types in memory come first
        memory, last = parts
    inputs, result, computed = (last[:-2], last[-2], last[-1]) if len(last) >= 3 else (last, "", "")
    if not result and "H" not in letters and len(set(inputs)) == 1:
        result = computed = inputs[0]
    memory = memory or inputs
    return (memory[0] if memory else ""), (memory[-1] if memory else ""), math or "".join(inputs), result, computed


def _letter_words(letters: str) -> tuple[str, ...]:
    meanings = (
        ("H" in letters, "accumulates in higher precision"),
        ("R" in letters, "half inputs go through the bfloat16 matrix instruction"),
        ("RZ" in letters, "with another rounding"),
        (re.search(r"I(?!c)", letters), "A and B have a stride in their first index"),
        ("Ic" in letters, "C and D have a stride in their first index"),
    )
    return tuple(words for claim, words in meanings if claim)
