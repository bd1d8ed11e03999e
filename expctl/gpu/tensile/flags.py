"""Explain the flags in a Tensile kernel name, which tell its epilogue and batches: bias, activation, scales, grouping."""

import re
from collections.abc import Sequence

from expctl.gpu.tensile.types import ONE_TYPE, TYPE, type_words

# Flags in the order in which the generators write them. {0} is the text of the group, TYPE is any type.
FLAGS = (
    (r"DBias((?:TYPE)+)", "writes the gradient of the bias of type {0}"),
    (r"BiasSrc([A-E])", "the bias belongs to tensor {0}"),
    (r"Bias((?:TYPE)*)", "adds a bias{0: of type {}}"),
    (r"FD(MN|N)", "factors lie along {0}"),
    (r"Aux((?:TYPE)?)", "also stores its result before the activation{0: of type {}}"),
    (r"Grad((?:TYPE)?)", "multiplies by the gradient of the activation{0: of type {}}"),
    (r"Gate((?:TYPE)?)", "gated residual{0: of type {}}"),
    (r"AmaxD", "also finds the greatest magnitude of D"),
    (r"SPA|SA", "A is 4:2 sparse"),
    (r"SPB", "B is 4:2 sparse"),
    (r"GG", "grouped: many products of different sizes in one launch"),
    (r"GB", "batched through an array of pointers"),
    (r"GA", "into the workspace of a split sum"),
    (r"SR", "rounds stochastically"),
    (r"ScaleABVec|SABV", "scales A by rows and B by columns"),
    (r"ScaleAB|SAB", "scales A and B by one number each"),
    (r"ScaleCD|SCD", "scales C and D by one number each"),
    (r"ScaleAlphaVec|SAV", "alpha is a vector"),
    (r"ScaleDVec|SDV", "scales D by a vector"),
    (r"UserArgs", "takes its arguments from a user's buffer"),
    (r"HA((?:TYPE)?)", "an activation of hipBLASLt's, chosen at launch{0:, computed in {}}"),
    (r"A((?:TYPE)?)", "an activation chosen at launch{0:, computed in {}}"),
    (r"NG", "activation without guards"),
)  # fmt: skip
PATTERNS = tuple((re.compile(pattern.replace("TYPE", TYPE), re.ASCII), words) for pattern, words in FLAGS)
ACTIVATION = re.compile(r"(RELU|GELU|ABS|SIGMOID|TANH|LEAKYRELU|CLIPPEDRELU|EXP|DGELU|GEGLU|SILU|SWISH|CLAMP)(.*)", re.ASCII)


def flag_words(tokens: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the meanings of all tokens that are known flags, then the tokens that are not. `A` or `HA` followed by a type,
    e.g. `HA_S`, counts as one flag: newer generators separate the type by an underscore.
    """
    words: list[str] = []
    unrecognised: list[str] = []
    at = 0
    while at < len(tokens):
        token = tokens[at]
        if token in ("A", "HA") and at + 1 < len(tokens) and ONE_TYPE.fullmatch(tokens[at + 1]):
            token, at = token + tokens[at + 1], at + 1
        word = _word(token)
        (words if word else unrecognised).append(word or token)
        at += 1
    return tuple(words), tuple(unrecognised)


def _word(token: str) -> str:
    for pattern, words in PATTERNS:
        found = pattern.fullmatch(token)
        if found:
            return _filled(words, (type_words(found[1], " or ") or found[1]) if found.groups() and found[1] else "")
    activation = ACTIVATION.fullmatch(token)
    return f"activation {activation[1].lower()}" if activation else ""


def _filled(words: str, value: str) -> str:
    """Return the text `words` with `value` inserted at `{0}`, or at `{}` in `{0: of type {}}`, which an empty value removes."""
    if "{0:" in words:
        text, _, optional = words.partition("{0:")
        return text + (optional.removesuffix("}").replace("{}", value) if value else "")
    return words.replace("{0}", value)
