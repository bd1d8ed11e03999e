"""Comparisons: the predicate of icmp or fcmp that each one is. v_cmpx does the same to EXEC."""

from tests.gfx11.cases.case import Case
from tests.gfx11.cases.tables import case

_INTEGER = {"lt": "lt", "eq": "eq", "le": "le", "gt": "gt", "ne": "ne", "ge": "ge"}
_FLOAT = {
    "lt": "olt", "eq": "oeq", "le": "ole", "gt": "ogt", "lg": "one", "ge": "oge", "o": "ord", "u": "uno", "nge": "ult",
    "nlg": "ueq",
    "ngt": "ule", "nle": "ugt", "neq": "une", "nlt": "uge",
}  # fmt: skip
_TYPES = {"f32": "float", "f16": "half", "f64": "double"}


def _integer(name: str, predicate: str, kind: str) -> list[Case]:
    stored = f"i{kind[1:]}"
    sign = "" if predicate in ("eq", "ne") else "s" if kind[0] == "i" else "u"
    return _both(f"{name}_{kind}", stored, f"%r = icmp {sign}{predicate} {stored} %a, %b")


def _both(name: str, kind: str, ir: str) -> list[Case]:
    return [
        case(f"v_cmp_{name}", f"{kind} {kind}", "mask", ir),
        case(f"v_cmpx_{name}", f"{kind} {kind}", "exec", ir),
    ]


CASES = (
    *(each for kind in ("u32", "i32", "u64", "i64", "u16", "i16") for x in _INTEGER.items() for each in _integer(*x, kind)),
    *(each for kind in ("f32", "f16", "f64") for name, predicate in _FLOAT.items()
      for each in _both(f"{name}_{kind}", kind, f"%r = fcmp {predicate} {_TYPES[kind]} %a, %b")),
)  # fmt: skip
