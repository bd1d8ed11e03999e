"""Classify kernels by name (GEMM, copy, ...): a name becomes a line of words, and the first rule whose words are in it decides.

More specific rules come first. The function's own name decides before template arguments such as `CopyFunctor`, except for
functions that launch any functor; names of torch's compiler list the fused operators, and those decide.
"""

import re
from collections.abc import Iterable, Sequence

from expctl.domain.patch.function_name import UNNAMED, function_name
from expctl.profiles.model.kernel_profile import KernelClass
from expctl.profiles.model.name_words import unmangled, words_of

_LAYOUT = r"(?:nchw|nhwc|ncdhw|ndhwc|nc\d{1,3}hw\w{0,4}|crsk|kcrs|krsc)"
# Words of names, as `words_of` makes them: lower case, one space between words, `a ?b` for names that join two.
_RULES: tuple[tuple[KernelClass, str], ...] = (
    (
        KernelClass.COPY,
        rf"\b{_LAYOUT} ?(?:to|2) ?{_LAYOUT}|(?:copy|fill) ?buffer|memcpy|memset|(?:reshape|concat) and cache|copy ?image",
    ),
    (
        KernelClass.COMMUNICATION,
        r"nccl|rccl|msccl|\bcomm\b|\ba2a\b|all ?reduce|all ?gather|reduce ?scatter|all ?to ?all"
        r"|(?:nv|roc)shmem|one ?shot|two ?shot"
        r"|cross device reduce"
        r"|quick ?reduce|deep ?ep\b|multimem",
    ),
    (KernelClass.NORMALISATION, r"norm .{0,20}(?:rope|rotary)"),
    (KernelClass.ELEMENTWISE, r"\brope|rotary"),
    (
        KernelClass.ATTENTION,
        r"\bflash\b|fmha|attention|attn|\b[gm]qa\b|delta rule|\bkkt\b|\bchunk (?:fwd|bwd) kernel"
        r"|paged ?kv|\bmha\b|\bmla\b|sdpa|\bsage\b"
        r"|split ?kv|decode grouped"
        r"|(?:prefill|decode)\b.{0,60}\bkv ?cache|fused ?softmax ?v",
    ),
    (KernelClass.FFT, r"fft|\b[sdhc]p ?radix\d|bluestein|stockham"),
    (
        KernelClass.CONVOLUTION,
        r"conv(?:[123]?d)?\b|\bconv ?\d|convolv|convolution|implicit \w{0,12}gemm|fprop|dgrad|wgrad"
        r"|winograd|\bigemm (?:fwd|bwd|wrw)"
        r"|\b[a-z]\d*cudnn\b|im2 ?col|col2 ?im|depthwise",
    ),
    (KernelClass.COPY, r"re ?pack"),
    (
        KernelClass.GEMM,
        r"\bcijk|tensile|gemm|gemv|mat ?mul|mul ?mat|matrix (?:vector )?(?:mul|prod)|\b(?:b?add|sp|s)?b?mm\b"
        r"|\b(?:add)?mv\b|nvjet|wv ?split|skinny"
        r"|marlin|fused moe|\bmoe ?\d\b|\bfc\b|quantized linear"
        r"|split ?k ?reduce|batched dot|\bdot kernel|\bsyrk|\bsyr2k|\btrmm",
    ),
    (KernelClass.REDUCTION, r"top ?k (?:gating )?soft ?max"),
    (
        KernelClass.NORMALISATION,
        r"(?:layer|rms|batch|group|instance|l2) ?norm|\brms(?!prop)|norm gated|gated norm|soft ?max"
        r"|\bbn ?(?:fw|bw|fwd|bwd)|\bl[rn]n (?:fwd|bwd|kernel)"
        r"|\bnorm (?:fwd|bwd|fw|bw|forward|backward|kernel|f32|f16)|gamma beta|rowwise moments",
    ),
    (KernelClass.EMBEDDING, r"embed"),
    (KernelClass.ELEMENTWISE, r"\berf\b|cwise|tensor select"),
    (
        KernelClass.REDUCTION,
        r"top ?k|arg ?sort|a(?:bs ?)?max\b|\basum\b|gumbel|\blan(?:sy|ge|he|tr)\b"
        r"|(?:moe|expert)s? (?:align|routing|sort|gat)",
    ),
    (
        KernelClass.COPY,
        r"\bcopy|copy\b|\bcat\b|concat|transpose|permut|contiguous|indexing|\blacpy|append|\bcpy|get rows"
        r"|set rows|gather|scatter|index ?(?:select|put"
        r"|copy|elementwise|func)"
        r"|\bfill|\bzeros?\b|\bcast|\bconvert|take along|\bpad\b|unpad",
    ),
    (
        KernelClass.REDUCTION,
        r"reduce|reduction|\bsum\b|arg ?max|arg ?min|top ?k|cum ?sum|\bscan|sort|histogram|\bpool|pool\b"
        r"|pool(?:ing)?[123]d|sampling"
        r"|partition|bincount|unique",
    ),
    (
        KernelClass.ELEMENTWISE,
        r"elementwise|elt ?wise|elem ?wise|pointwise|\bprng|\brng\b|\baxp|lin(?:ear)? ?comb|\bsqrt|resiz"
        r"|unary|binary|bin bcast|functor|activation|elu\b|silu\b|swiglu|geglu|sigmoid|\btanh|\badd"
        r"|add\b|\bmul"
        r"|\bsub|\bdiv|adam|\bsgd|multi tensor|dropout|distribution|philox|\brand|random|scale|scaling|quant|bias|optimizer"
        r"|op ?tensor|mask"
        r"|where|clamp|addition|transform|(?:for ?each|parallel ?for)|upsample|interpolate|\bpow\b|\bexp\b|compare"
        r"|addcmul|lerp",
    ),
)  # fmt: skip
_WEAK_RULES: tuple[tuple[KernelClass, str], ...] = (
    (KernelClass.GEMM, r"cutlass|tensorop|[cwx]mma|mfma|\bmoe\b|\blinear\b"),
    (KernelClass.ELEMENTWISE, r"\bgat(?:e|ed|ing)\b|temperature"),
    (KernelClass.ATTENTION, r"\bgdn\b"),
    (KernelClass.REDUCTION, r"\bcub\b|hipcub|rocprim|\bmean\b|norm|\bloss\b|cross entropy"),
    (KernelClass.COPY, r"\bslice|\bsplit ?\d|\bselect\b|\bexpand|\broll\b|\bflip|\brepeat|\bstack\b|\bpack(?!ed)|unpack"
        r"|shuffle"),
)  # fmt: skip
"""Words of a library, a kind of instruction or of many operators; they decide only where none of the words above is found."""
_COMPILED, _WEAK = (tuple((kind, re.compile(pattern)) for kind, pattern in rules) for rules in (_RULES, _WEAK_RULES))
NAME_READ = 4000
"""Characters of a name that are looked at; those of templates of templates may have any number."""
_WRAPPER = re.compile(r"(?:elementwise|index|multi_tensor_apply)_?\w{0,60}kernel|parallel_for")
"""Function names that PyTorch gives to every functor it launches; the functor's name tells what it does."""
_FUNCTORS = (
    (
        KernelClass.COPY,
        re.compile(r"copy_ke|FillFunctor|_fill::functor|CopyFunctor|(?:float|half|float16)to(?:float|half|bfloat16)"),
    ),
    (KernelClass.REDUCTION, re.compile(r"multi_tensor_apply.{0,400}NormFunctor")),
)
_FUSED = re.compile(r"^triton_(poi|red|per|for|unk)_fused_*(\w*)")
"""A kernel that torch's compiler (inductor) wrote: pointwise, reduction or persistent reduction, and the operators in it."""
_MOVING = (
    "to copy clone cat slice scatter gather select transpose permute view unsafe expand stack constant pad nd fill"
    " full like zeros ones zero new empty index put split unsqueeze squeeze t lift fresh fused as strided unfold"
    " repeat roll flip chunk detach alias"
)
_MOVES = frozenset(_MOVING.split())
"""Words of operators that only move data: a pointwise kernel of nothing else is a copy."""
_NORMS = re.compile(r"norm|softmax|rsqrt")


_PLAIN_WORK = (KernelClass.COPY, KernelClass.REDUCTION, KernelClass.ELEMENTWISE, KernelClass.OTHER)
"""Classes that are part of every other kind of work; a more specific class decides."""


def classify(name: str, operators: Sequence[str] = ()) -> KernelClass:
    """Return the class of the kernel `name`, mangled or not; OTHER when no rule matches.

    `operators` are those of torch that launched it, outermost first. The innermost decides before the name, with two
    exceptions: a kernel that copies by its name does so in any operator, and an embedding that looks up rows copies nothing.
    """
    by_name = _by_name(name)
    if not operators or not operators[-1].startswith(("aten::", "c10d::")):
        return by_name
    by_operator = _by_operator(operators[-1])
    if by_operator in _PLAIN_WORK:
        if any("embedding" in each for each in operators):
            return KernelClass.EMBEDDING
        return by_name if by_name not in _PLAIN_WORK or by_operator is KernelClass.OTHER else by_operator
    return by_name if by_name is KernelClass.COPY else by_operator


def _by_operator(operator: str) -> KernelClass:
    words = words_of(operator.partition("::")[2])
    return _first_match((*_COMPILED, *_WEAK), words) or KernelClass.OTHER


def _by_name(name: str) -> KernelClass:
    name = UNNAMED.sub("", unmangled(name[:NAME_READ]))
    head = function_name(name)
    if fused := _FUSED.match(head):
        return _fused_class(fused[1], fused[2])
    if _WRAPPER.search(head):
        for kind, functor in _FUNCTORS:
            if functor.search(name):
                return kind
    own, whole = words_of(head), words_of(name)
    found = (_first_match(rules, words) for rules in (_COMPILED, _WEAK) for words in (own, whole))
    return next(filter(None, found), KernelClass.OTHER)


def _first_match(rules: Iterable[tuple[KernelClass, re.Pattern[str]]], words: str) -> KernelClass | None:
    return next((kind for kind, pattern in rules if pattern.search(words)), None)


def _fused_class(form: str, operators: str) -> KernelClass:
    """Return the class of a kernel that torch's compiler fused. Products and convolutions in its name run elsewhere; what is
    fused with them is their epilogue.
    """
    if _NORMS.search(operators):
        return KernelClass.NORMALISATION
    if "embedding" in operators:
        return KernelClass.EMBEDDING
    if form in ("red", "per"):
        return KernelClass.REDUCTION
    words = [word for word in operators.split("_") if word and not word.isdigit()]
    return KernelClass.COPY if words and all(word in _MOVES for word in words) else KernelClass.ELEMENTWISE
