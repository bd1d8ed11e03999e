"""Make the patch of an experiment that sets options alone."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from expctl.adapters.git.reader import GitReader
from expctl.adapters.steps.options_file import NONE, options_of, options_text
from expctl.domain.errors import Misused, Refused
from expctl.domain.patch.written_diff import difference
from expctl.domain.protocol.model import Protocol
from expctl.domain.protocol.options import Options, option_faults


class Wanted(Struct, frozen=True, kw_only=True):
    """What is to be set: variables as NAME=VALUE, or NAME to unset it; `arguments` instead of those so far, and an interpreter.
    None: as it is.
    """

    variables: Sequence[str] = ()
    arguments: Sequence[str] | None = None
    interpreter: str | None = None

    @property
    def title(self) -> str:
        """What changes, in words."""
        parts = [*self.variables]
        parts += [f"arguments {' '.join(self.arguments) or 'none'}"] if self.arguments is not None else []
        parts += [f"interpreter {self.interpreter or 'the usual'}"] if self.interpreter is not None else []
        return f"Set {', '.join(parts)}"

    def on(self, options: Options) -> Options:
        """Return `options` with what is wanted."""
        variables = dict(options.environment)
        for word in self.variables:
            name, is_set, value = word.partition("=")
            if is_set:
                variables[name] = value
            else:
                variables.pop(name, None)
        arguments = options.arguments if self.arguments is None else tuple(self.arguments)
        interpreter = options.interpreter if self.interpreter is None else self.interpreter
        return replace(options, environment=variables, arguments=arguments, interpreter=interpreter)


def options_patch(git: GitReader, protocol: Protocol, commit: str, wanted: Wanted) -> bytes:
    """Return the patch on `commit` that sets what is `wanted`. Raises Misused where protocol.yaml allows no options, or nothing
    would change, and Refused for a file or options with faults.
    """
    rule = protocol.options
    if rule is None:
        raise Misused(
            "protocol.yaml lets no experiment set options",
            code="no-options",
            expected="`options` in protocol.yaml: the file that keeps them, and which variables and arguments are allowed",
            found=wanted.title,
            hint="add it in a commit of your own (docs/PROTOCOL.md), or propose a patch",
        )
    before = git.read_file(commit, rule.file)
    now = options_of(before, rule) if before is not None else NONE
    after = wanted.on(now)
    if faults := list(option_faults(rule, after)):
        raise Misused(
            "these options can't be set",
            code="option-not-allowed",
            expected="what `options` in protocol.yaml allows",
            found="\n".join(faults),
            where=f"protocol.yaml, options, for {rule.file}",
            hint="correct the words; what an experiment may set is allowed there, in a commit of your own",
        )
    if after == now:
        raise Refused(
            "these options are set already",
            code="options-unchanged",
            expected="another value than the baseline's",
            found=wanted.title,
            where=f"{rule.file} in {commit[:10]}",
            hint="expctl new --env NAME=VALUE with another value",
        )
    return difference(rule.file, before, options_text(after))
