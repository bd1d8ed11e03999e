"""Inline assembly in LLVM IR as what the compiler would have written for a builtin: prefetches, waits, scalar instructions that
take numbers alone, and stores with their cache bits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from expctl.inspection.readers.llvm_text import NAME, split_list

ASM = re.compile(r'asm (sideeffect )?(?:alignstack )?(?:inteldialect )?"((?:[^"\\]|\\.)*)", "([^"]*)"\((.*)\)$')
_PLAIN = re.compile(r"^[\s;]*([a-z]\w*)(?:\s+(-?\w+))?[\s;]*$")
_PREFETCH = re.compile(
    r'asm sideeffect "prefetch(t0|t1|t2|nta) \$0", "\*m[^"]*"\(ptr (?:nonnull )?elementtype\(\w+\) (%[\w.]+)\).*'
)
_LOCALITY = {"t0": 3, "t1": 2, "t2": 1, "nta": 0}
_WAIT = re.compile(r"s_waitcnt((?: *&? *(?:vmcnt|expcnt|lgkmcnt)\(\d+\))+)")
_COUNTERS = {"vmcnt": 10, "lgkmcnt": 4, "expcnt": 0}
_NO_WAIT = 0xFFF7
_BUILTIN = re.compile(rf"call void @llvm\.amdgcn\.s\.({NAME})\(((?:i\d+ -?\d+(?:, )?)*)\)")
_STORE = re.compile(r"[\s;]*global_store_b(8|16|32) \$(\d), \$(\d), off((?: \w+)*)[\s;]*$")
_CACHED = {"": "", "slc dlc": " !nontemporal !{i32 1}"}
"""The cache bits of gfx11, and what the compiler writes for a store that gets them."""


def as_builtin(text: str) -> str:
    """Return an instruction as it would be by a builtin: `instruction s_setprio 2` for what takes numbers alone, a store, or a
    call of `@llvm.prefetch`; any other as it is.
    """
    if not text.startswith("call "):
        return text
    builtin = _BUILTIN.match(text)
    if builtin:
        return " ".join(("instruction", f"s_{builtin[1].replace('.', '_')}", *re.findall(r"i\d+ (-?\d+)", builtin[2])))
    text = _PREFETCH.sub(lambda found: f"@llvm.prefetch.p0(ptr {found[2]}, i32 0, i32 {_LOCALITY[found[1]]}, i32 1)", text)
    match = ASM.search(text)
    if match is None or not match[1]:
        return text
    written = match[2].replace("\\0A", " ").replace("\\09", " ")
    constraints = [each for each in match[3].split(",") if each and not each.startswith("~")]
    if not match[4] and not constraints:
        alone = _PLAIN.match(_WAIT.sub(_waitcnt, written))
        return " ".join(("instruction", *(word for word in alone.groups() if word))) if alone else text
    return next(_stores(written, split_list(match[4]), constraints), text)


def _stores(written: str, given: tuple[str, ...], constraints: list[str]) -> Iterator[str]:
    match = _STORE.match(written)
    if match and match[4].strip() in _CACHED and constraints == ["v", "v"] and len(given) == 2:
        place, value = (given[int(match[at])].split(" ")[-1] for at in (2, 3))
        yield f"store i{match[1]} {value}, ptr addrspace(1) {place}{_CACHED[match[4].strip()]}"


def _waitcnt(match: re.Match[str]) -> str:
    """Return `s_waitcnt` with the number of gfx11's encoding (SOPP simm16: vmcnt 15:10, lgkmcnt 9:4, expcnt 2:0) for counters
    in words; a counter that isn't named is not waited for.
    """
    number = _NO_WAIT
    for name, count in re.findall(r"(\w+)\((\d+)\)", match[1]):
        most = 7 if name == "expcnt" else 63
        number = number & ~(most << _COUNTERS[name]) | min(int(count), most) << _COUNTERS[name]
    return f"s_waitcnt {number}"
