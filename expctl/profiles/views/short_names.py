"""Fold long names of kernels so that they stay apart: the function, and of its arguments the words that others don't have."""

import re
from collections import Counter
from collections.abc import Sequence

from expctl.domain.layout import cut_middle
from expctl.domain.patch.function_name import function_name
from expctl.domain.text import plain_text

_TENSILE = re.compile(r"^((?:Custom_)?Cijk_[A-Za-z]+_[A-Za-z]+_[A-Z0-9]+)_(?:\w{0,80}?_)?(MT\d+x\d+x\d+)(?=_|$)")
_WORD = re.compile(r"[A-Za-z_]\w*|\d+")
_NOISY = "void const unsigned operator std at native detail cuda hip c10 lambda anonymous namespace unnamed TensorIteratorBase"
_NOISE = frozenset(_NOISY.split())
_PLAIN_WORDS = (
    "int float double bool long short char true false instance gpu_kernel_impl gpu_kernel_impl_nocast array Array ReduceOp"
    " BinaryFunctor AUnaryFunctor BUnaryFunctor binary_internal func_wrapper_t"
)
_PLAIN = frozenset(_PLAIN_WORDS.split())
"""Words that say little; they tell names apart only where no other word does, as numbers do."""
_LAUNCHER = re.compile(
    r"\w*(?:elementwise|reduce|for|transform)\w*_kernel|multi_tensor_apply\w*|(?:device_)?[Kk]ernel2?|kentry"
)
"""Functions that launch whatever functor they are given: without its name theirs says little."""
_UNSCOPED = re.compile(r"\b[A-Za-z_]\w*\b(?!::)")


def short_names(names: Sequence[str]) -> dict[str, str]:
    """Return a short form of each of `names`, all of which are different, as the short forms are too.

    A C++ name keeps its function without namespaces, a Tensile name its operands and tile. Names that are equal then are told
    apart by the fewest words that not all of them have, in `<...>`; where words don't do it, by a number.
    """
    groups: dict[str, list[str]] = {}
    for name in names:
        groups.setdefault(_base(name), []).append(name)
    found: dict[str, str] = {}
    for base, members in groups.items():
        found |= _told_apart(base, members) if len(members) > 1 else {members[0]: _with_functor(base, members[0])}
    return _numbered({name: found[name] for name in names})


def apart_when_cut(short: dict[str, str], width: int) -> dict[str, str]:
    """Return `short` forms by name, with a number before those that become equal when they are cut to `width` characters (0:
    NAME_MOST).
    """
    counts = Counter(cut_middle(each, width) for each in short.values())
    return {
        name: f"#{number} {each}" if counts[cut_middle(each, width)] > 1 else each
        for number, (name, each) in enumerate(short.items(), 1)
    }


def _base(name: str) -> str:
    if tensile := _TENSILE.match(name):
        return f"{tensile[1]}_{tensile[2]}"
    plain = plain_text(name)
    return re.sub(r"^(?:\w+::)+(?=.)", "", function_name(plain)) or plain


def _words(name: str) -> list[str]:
    """Return the words that may tell a name from others: parts of a Tensile name, identifiers and numbers of any other."""
    parts = name.split("_") if _TENSILE.match(name) else _WORD.findall(plain_text(name))
    return [part for part in parts if part and part not in _NOISE]


def _with_functor(base: str, name: str) -> str:
    arguments = plain_text(name).partition(f"{base}<")[2]
    if not _LAUNCHER.fullmatch(base):
        return base
    functor = next((word for word in _UNSCOPED.findall(arguments) if word not in _NOISE and not _says_little(word)), "")
    return f"{base}<{functor}>" if functor else base


def _told_apart(base: str, members: Sequence[str]) -> dict[str, str]:
    words = {name: _words(name) for name in members}
    common = Counter(words[members[0]])
    for name in members[1:]:
        common &= Counter(words[name])
    own = {name: sorted(dict.fromkeys(_without(words[name], common)), key=_says_little) for name in members}
    most = max(map(len, own.values()))
    for number in range(1, most + 1):
        found = {name: f"{base}<{','.join(own[name][:number])}>" if own[name] else base for name in members}
        if len(set(found.values())) == len(members):
            break
    return found if most else dict.fromkeys(members, base)


def _says_little(word: str) -> bool:
    return word.isdigit() or word in _PLAIN


def _without(words: Sequence[str], common: Counter[str]) -> list[str]:
    left = common.copy()
    found = []
    for word in words:
        if left[word] > 0:
            left[word] -= 1
        else:
            found.append(word)
    return found


def _numbered(found: dict[str, str]) -> dict[str, str]:
    counts = Counter(found.values())
    seen: Counter[str] = Counter()
    for name, short in found.items():
        if counts[short] > 1:
            seen[short] += 1
            found[name] = f"{short} #{seen[short]}"
    return found
