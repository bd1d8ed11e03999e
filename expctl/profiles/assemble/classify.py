"""Classify kernels by name (GEMM, copy, ...). A name is taken apart into words; the strongest rule of `class_words`, then of
`plain_words`, then of `weak_words`, that any of them belongs to decides.

The function's own name is asked first, then its template arguments, then its namespaces, and what library it is of at last.
Functions that launch any functor are what their functor does, and names of compilers that fuse operators what these do.
Parameters are never asked: they say what a kernel is given, not what it does.
"""

import re
from collections.abc import Sequence
from functools import lru_cache

from expctl.domain.patch.function_name import function_name, without_unnamed
from expctl.profiles.assemble.class_words import RULES
from expctl.profiles.assemble.fused_names import fused_class
from expctl.profiles.assemble.launcher_names import LAUNCHER, launched_class
from expctl.profiles.assemble.plain_words import PLAIN_RULES
from expctl.profiles.assemble.weak_words import LIBRARIES, WEAK_RULES
from expctl.profiles.assemble.word_rules import ARRAYS, Rule
from expctl.profiles.model.kernel_profile import KernelClass
from expctl.profiles.model.name_words import unmangled, words_of

NAME_READ = 4000
"""Characters of a name that are looked at; those of templates of templates may have any number."""
_LONGEST = 6
"""Most words that are read as one."""
_TOKEN = re.compile(r"\d+d\b|[a-z]+|\d+")
_RARE = 1 << 20
_BESIDE = (
    *("gpu", "cuda", "hip", "dev", "device", "kernel", "ker", "vec", "vector", "vectors", "mat", "matrix", "matrices"),
    *("arr", "array", "arrays", "tensor", "img", "image"),
)
"""What programs write together with a word: `arrayadd`, `gpuscale`, `reducekernel`."""


def _stems(token: str) -> set[str]:
    """Return what is left of a word without one that it may be written together with, before or behind it."""
    if token.startswith("sub"):  # `subarray` subtracts nothing
        return set()
    heads = {token, *map(token.removeprefix, _BESIDE)}
    return {stem for head in heads for stem in map(head.removesuffix, ("", *_BESIDE)) if 2 < len(stem) < len(token)}


_BEFORE = frozenset(
    [
        *_BESIDE,
        "k",
        "d",
        "g",
        "m",
        "cu",
        "triton",
        "fused",
        "batched",
        "foreach",
        "native",
        "aten",
        "op",
        "operator",
        "magma",
        "cupy",
        "do",
        "my",
    ]
)
"""What may stand before the first word of a name; words written `^word` in the vocabulary count only as such, as what a kernel
does: `tile_2d_kernel` copies, `compute_tile_keys` doesn't.
"""


class _Vocabulary:
    """Rules, ready to be asked for the words of a name."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self._kinds = [rule.kind for rule in rules]
        self._words: dict[str, int] = {}
        for rank, rule in enumerate(rules):
            for word in rule.words.split():
                self._words.setdefault(word.replace("_", ""), rank)
        self._parts = [(rank, re.compile("|".join(rule.parts.split()))) for rank, rule in enumerate(rules) if rule.parts]
        self.part_rank = lru_cache(maxsize=65_536)(self._part_rank)

    def _part_rank(self, token: str) -> int:
        known = self._rank_of_word(token)
        if known < _RARE or token in self._words:
            return known
        return min((min(self._words.get(stem, _RARE), self._rank_of_word(stem)) for stem in _stems(token)), default=_RARE)

    def _rank_of_word(self, token: str) -> int:
        return next((rank for rank, pattern in self._parts if pattern.search(token)), _RARE)

    def find(self, tokens: Sequence[str]) -> KernelClass | None:
        """Return the class of the strongest rule that one of the tokens, or several in a row, belong to."""
        best = _RARE
        first = True
        for start, token in enumerate(tokens):
            joined = ""
            for following in tokens[start : start + _LONGEST]:
                joined += following
                best = min(best, self._words.get(joined, _RARE) if joined == token or len(joined) > 2 else _RARE)
                best = min(best, self._words.get(f"^{joined}", _RARE) if first else _RARE)
            first &= token in _BEFORE
            if token.isalpha():
                best = min(best, self.part_rank(token))
        return self._kinds[best] if best < _RARE else None


_PLAIN_WORK = (KernelClass.COPY, KernelClass.REDUCTION, KernelClass.ELEMENTWISE, KernelClass.OTHER)
"""Classes that are part of every other kind of work; a more specific class decides."""

_BY_NAME = {
    (KernelClass.COPY, KernelClass.REDUCTION),
    (KernelClass.ELEMENTWISE, KernelClass.REDUCTION),
    (KernelClass.EMBEDDING, KernelClass.REDUCTION),
    (KernelClass.REDUCTION, KernelClass.ELEMENTWISE),
    (KernelClass.GEMM, KernelClass.ELEMENTWISE),
    (KernelClass.CONVOLUTION, KernelClass.ELEMENTWISE),
}
"""Classes by operator and by name for which the name is right: steps beside an operator's work, such as a sort for an indexed
write, a bias beside a product, a loss of each element.
"""

_WORK, _LIBRARIES = _Vocabulary((*RULES, *PLAIN_RULES, *WEAK_RULES)), _Vocabulary(LIBRARIES)
_OF_A_LOOP = _Vocabulary((*RULES, *PLAIN_RULES[:-1], Rule(KernelClass.ELEMENTWISE, ARRAYS, PLAIN_RULES[-1].parts)))
_NAMESPACES = _Vocabulary([rule for rule in RULES if rule.kind not in _PLAIN_WORK])
_WRAPPER = re.compile(
    r"(?:elementwise|multi_tensor_apply)_?\w{0,60}kernel|parallel_for\b|pointwise_?apply"
    r"|::transform_kernel|foreach_\w{0,40}kernel|(?:unary|binary)_?elementwise",
    re.IGNORECASE,
)
"""Function names that libraries give to every functor they launch; the functor's name tells what it does."""
_FOR_EACH = re.compile(r"\b(?:ParallelForAgent|__parallel_for|VectorizedBroadcastKernel|Broadcasted)\b")
"""Launchers of functors by Thrust, in template arguments or namespaces, by Paddle, and Julia's, in parameters."""
_MOVING_FUNCTOR = re.compile(
    r"copy_(?:ke|device)|(?<!masked_)(?:(?:Fill|Full|Copy|Cast)(?:Op)?Functor|(?:Fill|Copy|Cast)Op\b)|OP_\w{0,12}Cast|_fill::functor"
    r"|(?:float|half|float16)to(?:float|half|bfloat16)|arange|\bflip_kernel|\broll_|index\w{0,20}_kernel_impl"
    r"|index_(?:put|copy|fill)|CastTo|uninitialized_copy|::identity<|Broadcasted<.{0,400}, identity,",
)
_MOVING_WRAPPER = re.compile(r"(?<!with_)index|gather|scatter")
_REDUCING_FUNCTOR = re.compile(r"multi_tensor_apply.{0,400}NormFunctor|scatter_gather.{0,400}::Reduce(?:Add|Mul|Mean|Max|Min)")
_TRITON_ATTENTION = re.compile(r"_?(?:fwd|bwd)_(?:k?v_|q_)?kernel\w*|parallel_\w*(?:fwd|bwd)\w*")
"""Bare names that Triton's examples give to attention, and many after them."""
_LINEAR_ATTENTION = re.compile(
    r"chunk(?:wise)?_(?!state|scan|cumsum|\w*(?:delta|gdn|gdr|kv7|wkv|retention|mesa))\w*(?:fwd|bwd)\w*"
)
"""Linear attention by chunks; state space models put an underscore before."""
_BARE_NORM = re.compile(r"k?_?norm_?(?:(?:cuda|gpu)_?)?(?:kernel)?_?\d*", re.IGNORECASE)
"""A norm of nothing named is one of a vector, as solvers need it; those of layers have a word before it."""
_BARE_GATHER = re.compile(r"_*(?:vectorized_?)?gather_?(?:nd|v2|rows?)?_?(?:op)?_?(?:cuda|gpu)?_?kernel", re.IGNORECASE)
"""A gather of nothing named looks up whole rows; those of experts, sorted keys or caches say so."""
_BY_THE_RUNTIME = re.compile(r"\[?(?:(?:cuda|hip|unified memory) )*mem(?:cpy|set)\b", re.IGNORECASE)
"""What profilers call copies and fills that no kernel does: `Memcpy DtoH (Device -> Pageable)`, `[CUDA memset]`."""
_SECOND_STAGE = re.compile(r"_gpu__red$")
"""What OpenACC's compilers add to the kernel that ends a sum."""
_INDEXING = re.compile(r"(?<=_kernel)_(?:linear|cartesian)$")
"""How Julia's kernels count their elements."""
_NO_NAME = re.compile(
    r"(?:k|cuda|gpu|device|the|run|main|fwd|bwd|forward|backward|_)*"
    r"(?:kernel|run|main|func|entry|invoke|stage|impl|fwd|bwd|forward|backward|apply(?:_?generic)?)s?_?\d*",
    re.IGNORECASE,
)
"""Function names that say nothing; the innermost namespace or type says more."""
_BESIDE_ATTENTION = re.compile(
    "softmax|(?:de)?quant(?:ize)?|(?:un)?pack|transpose|copy|concat|cast|amax|scale|gate|bias|masks?"
)
"""Last words of names such as `attn_softmax` or `mha_quant_kernel`, whose kernels do one step beside a product."""
_WITH_ATTENTION = frozenset(["flash", "fmha", "sdpa", "fwd", "forward", "prefill", "decode", "paged", "with"])
"""Words of names whose kernels do such a step within attention."""
_SET_UP = re.compile(
    "args|ptrs|pointers|descs?|descriptors|starts|sizes|ids|indices|tables?|positions|lengths|info|checker|mappings?|plan"
)
"""Last words of names such as `get_group_gemm_starts` or `swa_page_indices`, whose kernels only prepare other work."""
_CHECKS = frozenset(["setup", "check", "validate", "plan", "build"])
"""First words of names that prepare or check."""
_PREPARED = (KernelClass.GEMM, KernelClass.ATTENTION, KernelClass.NORMALISATION, KernelClass.EMBEDDING)
"""Classes that such kernels don't belong to. The offsets of a convolution are part of it, as im2col is."""
_VARIANT = re.compile(r"(?: (?:kernel|cuda|gpu|triton|bwd?|backward|[bu]?int|b?fp?|h|half|float|e|m|vec|lt|v \d+|\d+))+$")
"""What may stand behind a last word: number types, versions."""
_NOT_THE_WORK = re.compile(
    r"\b(?:(?<!hc )(?:post|pre|after|before) (?:conv|attn|attention|gemm|matmul|mlp|ffn|moe|linear)"
    r"|(?:pitch|piecewise|non|semi) linear"
    r"|linear (?:regression|index|indices|probe|probing|system|elastic\w*|sol\w+|wave|euler|shallow|layout|memory)"
    r"|sub (?:graph|tree|domain|grid|cycle|step|group|m|problem|mesh|cell|set|space|sequence|surface|section"
    r"|pixel|net|path|iter\w*)s?"
    r"|round robin|round major|div [uvwbe]|narrow phase|broad phase|fold change|min latency)\b"
)
"""What stands in names for a place or a kind of thing: after a convolution, a part of a grid."""
_LOOP_OF_A_FUNCTION = re.compile(r"_\d+_gpu(?:__red)?$|^__omp_offloading_|^nvkernel_")
"""OpenACC's and OpenMP's compilers name a kernel by the function its loop is in, and the line: single words of arithmetic tell
nothing of the loop, and stand for a divergence or a subroutine as well.
"""
_DIRECTIONS = frozenset(["fwd", "bwd", "forward", "backward"])
"""Layers have a direction, products have none."""
_OLD_CUDNN = re.compile(r"(?:^|_)[a-z]\d*cudnn_")
"""cuDNN's convolutions by an older scheme: the type, the shape of the instruction, `cudnn`."""


def classify(name: str, operators: Sequence[str] = ()) -> KernelClass:
    """Return the class of the kernel `name`, mangled or not; OTHER when no rule matches.

    `operators` are those of torch that launched it, outermost first. The innermost decides before the name, with three
    exceptions: a kernel that copies by its name does so in any operator, an embedding that looks up rows copies nothing, and
    steps beside an operator's work are what their names say.
    """
    by_name = _by_name(name)
    if not operators or not operators[-1].startswith(("aten::", "c10d::")):
        return by_name
    by_operator = _WORK.find(_tokens(operators[-1])) or KernelClass.OTHER
    if (by_operator, by_name) in _BY_NAME:
        return by_name
    if by_operator in _PLAIN_WORK:
        if any("embedding" in each for each in operators):
            return KernelClass.EMBEDDING
        if by_operator is KernelClass.COPY and by_name is KernelClass.EMBEDDING:
            return by_operator
        return by_name if by_name not in _PLAIN_WORK or by_operator is KernelClass.OTHER else by_operator
    return by_name if by_name is KernelClass.COPY else by_operator


def _tokens(text: str) -> list[str]:
    return _TOKEN.findall(words_of(text))


def _by_name(name: str) -> KernelClass:
    name = without_unnamed(unmangled(name[:NAME_READ]))
    if _BY_THE_RUNTIME.match(name):
        return KernelClass.COPY
    head = function_name(name)
    scope, _, base = _INDEXING.sub("", head).rpartition("::")
    if _WRAPPER.search(head) or _FOR_EACH.search(name):
        return _class_of_functor(name, base)
    if LAUNCHER.search(base):
        return launched_class(name, _WORK.find)
    if _OLD_CUDNN.search(base):
        return KernelClass.CONVOLUTION
    if _LINEAR_ATTENTION.fullmatch(base):
        return KernelClass.ATTENTION
    if _BARE_NORM.fullmatch(base):
        return KernelClass.REDUCTION
    if _BARE_GATHER.fullmatch(base):
        return KernelClass.EMBEDDING
    if fused := fused_class(base, _WORK.find):
        return fused
    own, arguments, spaces = (
        _TOKEN.findall(_NOT_THE_WORK.sub("", words_of(base))),
        _tokens(_arguments(name, head)),
        _tokens(scope),
    )
    own_kind = (_OF_A_LOOP if _LOOP_OF_A_FUNCTION.search(base) else _WORK).find(own)
    last = _VARIANT.sub("", " ".join(own)).rpartition(" ")[2]
    if own_kind in _PREPARED and (_SET_UP.fullmatch(last) or "metadata" in own or own[0] in _CHECKS):
        return KernelClass.OTHER
    if own_kind is KernelClass.GEMM and last == "epilogue" and "with" not in own:
        return KernelClass.ELEMENTWISE
    if own_kind is KernelClass.ATTENTION and _BESIDE_ATTENTION.fullmatch(last) and not _WITH_ATTENTION.intersection(own):
        return _WORK.find([last]) or own_kind
    found = own_kind or _known(_WORK.find(arguments)) or _NAMESPACES.find(spaces)
    if found is None and _NO_NAME.fullmatch(base):
        found = _WORK.find(_tokens(scope.rpartition("::")[2]))
    if not _known(found) and _SECOND_STAGE.search(base):
        return KernelClass.REDUCTION
    if found is None and _TRITON_ATTENTION.fullmatch(base):
        return KernelClass.ATTENTION
    if found is None and not _DIRECTIONS.intersection(own):
        found = _LIBRARIES.find([*own, *arguments, *spaces])
    return found or KernelClass.OTHER


def _known(kind: KernelClass | None) -> KernelClass | None:
    return None if kind is KernelClass.OTHER else kind


def _arguments(name: str, head: str) -> str:
    """Return the template arguments of the function `head`, to the end where the name is cut short; "" if it has none."""
    start = name.find(f"{head}<")
    if start < 0:
        return "" if head in name else name
    text = name[start + len(head) :]
    depth = 0
    for place, letter in enumerate(text):
        depth += (letter == "<") - (letter == ">" and text[place - 1] != "-")
        if not depth:
            return text[:place]
    return text


def _class_of_functor(name: str, base: str) -> KernelClass:
    if _REDUCING_FUNCTOR.search(name):
        return KernelClass.REDUCTION
    if _MOVING_WRAPPER.search(base) or _MOVING_FUNCTOR.search(name):
        return KernelClass.COPY
    return KernelClass.ELEMENTWISE
