"""Read what a side sets besides code, keep it beside its build, and apply it to what is started for that side."""

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from expctl.adapters.child.interpreter import with_interpreter
from expctl.adapters.codec.strict_yaml import contradiction, load
from expctl.domain.protocol.model import Environment
from expctl.domain.protocol.options import ARGUMENTS, Options, OptionsRule, option_faults

KEPT = "options.json"
NONE = Options()
OfSide = Callable[[Environment, Options], Environment]
"""Returns the environment of a side with these options. Raises Refused if its interpreter isn't on this machine."""


def options_of(text: bytes, rule: OptionsRule) -> Options:
    """Return the options in `text`, the contents of the file of `rule`. Raises Refused with every fault."""
    options = load(text, Options, where=rule.file) if text.strip() else NONE
    if faults := list(option_faults(rule, options)):
        raise contradiction(rule.file, faults)
    return options


def options_text(options: Options) -> bytes:
    """Return the file's contents for `options`; `options_of` reads equal ones from them."""
    lines = [f"{name}: {json.dumps(value)}" for name, value in sorted(options.environment.items())]
    found = ["environment:", *(f"  {line}" for line in lines)] if lines else []
    found += [f"arguments: {json.dumps(list(options.arguments))}"] if options.arguments else []
    found += [f"interpreter: {json.dumps(options.interpreter)}"] if options.interpreter else []
    return "".join(f"{line}\n" for line in found).encode()


def options_in(tree: Path, rule: OptionsRule | None) -> Options:
    """Return the options of the sources in `tree`. Raises Refused with every fault, OSError."""
    if rule is None:
        return NONE
    try:
        return options_of((tree / rule.file).read_bytes(), rule)
    except FileNotFoundError:
        return NONE


def keep(options: Options, folder: Path) -> None:
    """Write `options` to the build in `folder`, where there are any."""
    if options != NONE:
        (folder / KEPT).write_bytes(msgspec.json.encode(options, order="sorted"))


def kept(folder: Path) -> Options:
    """Return the options of the build in `folder`. Raises OSError."""
    file = folder / KEPT
    return msgspec.json.decode(file.read_bytes(), type=Options) if file.exists() else NONE


def hash_of_build(file: Path) -> str:
    """Return the hash that identifies a build: of its `file`, and of the options beside it. Raises OSError."""
    return hash_with(hashlib.sha256(file.read_bytes()).hexdigest(), file.parent)


def hash_with(sha256: str, folder: Path) -> str:
    """Return the hash `sha256` of a part of the build in `folder`, with that of the options it runs with. Raises OSError."""
    options = folder / KEPT
    return hashlib.sha256(sha256.encode() + options.read_bytes()).hexdigest() if sha256 and options.exists() else sha256


def with_arguments(argv: Sequence[str], options: Options) -> list[str]:
    """Return `argv` with the arguments of `options` in place of each word `{arguments}`."""
    return [word for given in argv for word in (options.arguments if given == ARGUMENTS else (given,))]


def with_variables(environment: Environment, options: Options) -> Environment:
    """Return `environment` with the variables of `options`."""
    return replace(environment, set={**environment.set, **options.environment}) if options.environment else environment


def with_options(
    environment: Environment, options: Options, *, rule: OptionsRule | None, root: Path, state: Path
) -> Environment:
    """Return `environment` with variables and interpreter of `options`. Raises Refused as `with_interpreter` does."""
    if rule is not None and options.interpreter:
        given = replace(environment, python=rule.interpreters[options.interpreter])
        where = f"protocol.yaml, options.interpreters.{options.interpreter}"
        environment = with_interpreter(given, root=root, state=state, where=where)
    return with_variables(environment, options)
