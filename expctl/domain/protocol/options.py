"""What an experiment may set besides code: environment variables, arguments, and which of the prepared interpreters runs it."""

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase

from msgspec import Struct, field

from expctl.domain.protocol.names import NAME

ARGUMENTS = "{arguments}"
"""In a command or in the flags of a build: replaced by the arguments of the side that it is for."""
PATTERN = re.compile(r"[A-Za-z_][A-Za-z0-9_]*\*?", re.ASCII)
OURS = ("PATH", "HOME", "TMPDIR", "LANG", "VIRTUAL_ENV", "IFS", "ENV", "BASH_ENV", "GCONV_PATH")
OURS_LIKE = (
    "LD_*", "DYLD_*", "PYTHON*", "GLIBC_*", "MALLOC_*", "EXPCTL_*", "ZIG_*", "TRITON_CACHE_*", "TORCHINDUCTOR_CACHE_*",
    "*_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL",
)  # fmt: skip
"""Variables by which a side could load code of its own into the harness, find what the other compiled, or choose its card."""
ARGUMENTS_MOST, VALUE_MOST = 64, 1_000


class OptionsRule(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What an experiment may set besides code, in `file`, which lies in scope, so that a patch of it is an experiment.

    `variables` are the names that it may set, a `*` at the end stands for any rest. With `arguments` it may give words that
    stand for `{arguments}` in commands and build flags. `interpreters` are Pythons with other versions of packages, by name: an
    absolute path, or one below the repository.
    """

    file: str
    variables: tuple[str, ...] = ()
    arguments: bool = False
    interpreters: Mapping[str, str] = field(default_factory=dict)


class Options(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of such a file: `environment` variables, `arguments`, and the name of an `interpreter`, "" for the usual."""

    environment: Mapping[str, str] = field(default_factory=dict)
    arguments: tuple[str, ...] = ()
    interpreter: str = ""


def option_faults(rule: OptionsRule, options: Options) -> Iterator[str]:
    """Yield one sentence for each option that `rule` doesn't allow."""
    for name, value in options.environment.items():
        if not any(fnmatchcase(name, pattern) for pattern in rule.variables) or is_ours(name):
            yield f"environment: expected one of {', '.join(rule.variables) or 'no variable'}, found {name[:60]!r}"
        if len(value) > VALUE_MOST:
            yield f"environment.{name}: expected at most {VALUE_MOST} characters, found {len(value)}"
    if options.arguments and not rule.arguments:
        yield f"arguments: expected none, for protocol.yaml allows none, found {len(options.arguments)}"
    if len(options.arguments) > ARGUMENTS_MOST or any(len(word) > VALUE_MOST for word in options.arguments):
        yield f"arguments: expected at most {ARGUMENTS_MOST} of at most {VALUE_MOST} characters, found {len(options.arguments)}"
    if options.interpreter and options.interpreter not in rule.interpreters:
        yield f"interpreter: expected one of {', '.join(rule.interpreters) or 'none'}, found {options.interpreter[:60]!r}"


def is_ours(name: str) -> bool:
    """Is it a variable that expctl or the loader of the harness reads, which no experiment may set?"""
    return name in OURS or any(fnmatchcase(name, pattern) for pattern in OURS_LIKE)


def options_rule_faults(rule: OptionsRule | None, *, in_scope: bool, fixed: Mapping[str, str]) -> Iterator[str]:
    """Yield one sentence for each contradiction in `rule`. `in_scope` says whether a patch may touch its file, `fixed` are the
    variables that protocol.yaml sets itself.
    """
    if rule is None:
        return
    if not in_scope:
        yield f"options.file: expected a file in scope, found {rule.file!r}"
    for pattern in rule.variables:
        if not PATTERN.fullmatch(pattern) or is_ours(pattern.rstrip("*")) or pattern == "*":
            yield f"options.variables: expected names such as TORCHINDUCTOR_*, none that expctl sets, found {pattern[:60]!r}"
    for name in fixed:
        if any(fnmatchcase(name, pattern) for pattern in rule.variables):
            yield f"options.variables: {name} is under environment.set too, which is for both sides: drop it in one place"
    for name in rule.interpreters:
        if not NAME.fullmatch(name):
            yield f"options.interpreters: expected a name of letters, digits and ._+-, found {name[:60]!r}"
