"""What a tool takes: one type each, from which its schema is made and by which what an agent sends is read, strictly."""

import unicodedata
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

import msgspec
from msgspec import Meta, Struct

from expctl.domain.errors import Refused
from expctl.domain.experiment.findings import TEXT_MAX
from expctl.domain.experiment.ids import ID_PATTERN
from expctl.domain.text import is_unseen, one_line

PATCH_LETTERS_MAX = 1_000_000
MANY_LINES = ("patch", "hypothesis", "precondition")
IN_SOURCES = "\t\n\r\f"
LINE_ENDS = "\u2028\u2029"
TURNS = frozenset("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Bidirectional marks: with them a source shows in another order than it compiles."""

Id = Annotated[str, Meta(pattern=f"^{ID_PATTERN.pattern}$", max_length=40, description="An experiment, such as P15.")]
Patch = Annotated[str, Meta(min_length=1, max_length=PATCH_LETTERS_MAX, description="A unified diff of text against HEAD.")]
Name = Annotated[str, Meta(pattern=r"^([A-Za-z0-9_][A-Za-z0-9_.-]*)?$", max_length=80)]
InRepository = Annotated[str, Meta(min_length=1, max_length=1000, description="A path in the repository, from its top.")]
Because = Annotated[str, Meta(max_length=2000, description="What is new, where a do-not-repeat rule forbids the change.")]


class Arguments(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The arguments of a tool that takes none."""


class BriefArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """How long the brief may be, and what it is about."""

    words: Annotated[int, Meta(ge=1500, le=4000, description="The most words; the least useful are cut.")] = 4000
    about: Annotated[str, Meta(max_length=1000, description="Only rules and findings that touch this file or folder.")] = ""


class ShowArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which experiment to show."""

    experiment: Id


class RulesCheckArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A patch, to be compared with the do-not-repeat rules."""

    patch: Patch
    precondition: Because = ""


class TryArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A patch, to be built and tested."""

    patch: Patch
    target: Annotated[Name, Meta(description="The target that an experiment would time; left out: the first.")] = ""


class ProposeArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A patch with the reason why it should help, and what is predicted. It gets the next free id:
    one that an agent chose, such as P999999999, would leave none for others.
    """

    patch: Patch
    title: Annotated[str, Meta(min_length=3, max_length=200, description="What changes, in a few words.")]
    hypothesis: Annotated[str, Meta(min_length=3, max_length=4000, description="Why it should help.")]
    kind: Annotated[str, Meta(max_length=20, description="perf, simplify, config, infra or analysis.")] = "perf"
    mode: Annotated[str, Meta(max_length=20, description="gain, gain-costly or simplify; left out: by the kind.")] = ""
    expect: Annotated[str, Meta(max_length=20, description="The verdict you predict: KEEP, REJECT, ...")] = "KEEP"
    gain: Annotated[str, Meta(max_length=40, description="LOW,HIGH: the gain you predict, in percent.")] = ""
    depends_on: Annotated[
        list[Annotated[str, Meta(max_length=200)]], Meta(max_length=20, description="Conditions such as P15 (docs/QUEUE.md).")
    ] = []
    precondition: Because = ""


class RunArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which queued experiment to measure."""

    experiment: Id
    target: Annotated[Name, Meta(description="The target whose times decide; left out: the first available.")] = ""


class ProfileDiffArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Two profiles."""

    before: InRepository
    after: InRepository


class CheckArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A kernel's file and how it is launched."""

    file: InRepository
    launch: Annotated[InRepository, Meta(description="A launch description, .yaml; left out: one is proposed.")] | None = None
    kernel: Annotated[Name, Meta(description="The kernel, where the file has several.")] = ""
    orders: Annotated[int, Meta(ge=1, le=100, description="Orders of waves and workgroups to try.")] = 3


class FindingArguments(Arguments, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lesson with its evidence."""

    text: Annotated[str, Meta(min_length=3, max_length=TEXT_MAX, description="What was found, in a sentence.")]
    kind: Annotated[str, Meta(max_length=20, description="measured, imported, external or static.")] = "measured"
    evidence: Annotated[
        list[Annotated[str, Meta(max_length=500)]], Meta(max_length=20, description="Experiments, commits or addresses.")
    ] = []


Taken = TypeVar("Taken", bound=Arguments)


def schema_of(kind: type) -> dict[str, Any]:
    """Return the JSON Schema of a struct, with an object at its root, as the protocol wants it."""
    schema = msgspec.json.schema(kind)
    definitions: dict[str, Any] = schema.pop("$defs")
    root: dict[str, Any] = definitions.pop(str(schema["$ref"]).rpartition("/")[2])
    return {**root, "$defs": definitions} if definitions else root


def read(raw: Mapping[str, Any] | None, wanted: type[Taken], tool: str) -> Taken:
    """Return what an agent sent to `tool`. Raises Refused for another type, an unknown name, a value that is too long, and
    characters that a terminal obeys or a reader doesn't see.
    """
    given = dict(raw or {})
    try:
        taken = msgspec.convert(given, wanted, strict=True)
    except msgspec.ValidationError as error:
        raise Refused(
            f"the arguments of {tool} are not what it takes",
            code="arguments-unfit",
            expected=f"{', '.join(wanted.__struct_fields__) or 'no arguments'}, as the tool's input schema says",
            found=one_line(str(error), 300),
            hint="correct that argument and call the tool again",
        ) from error
    for name, value in given.items():
        for text in value if isinstance(value, list) else [value]:
            if isinstance(text, str) and (unfit := _unfit(name, text)):
                raise Refused(
                    f"{name} holds a character that must not be there",
                    code="argument-not-plain",
                    expected="text without control, invisible or bidirectional characters"
                    + (" (tabs and line ends may be there)" if name in MANY_LINES else ", on one line"),
                    found=f"{unicodedata.name(unfit, 'a control character')} (U+{ord(unfit):04X})",
                    where=f"{tool}, {name}",
                    hint="leave it out, and call the tool again",
                )
    return taken


def _unfit(name: str, text: str) -> str:
    """Return the first character of an argument that must not be there; "" if there is none."""
    if text.isascii() and text.isprintable():
        return ""
    if name == "patch":  # sources hold what their authors typed
        return next((each for each in text if each in TURNS or _controls(each)), "")
    allowed = "\t\n" if name in MANY_LINES else ""
    return next((each for each in text if each not in allowed and (is_unseen(each) or each in LINE_ENDS)), "")


def _controls(letter: str) -> bool:
    return letter not in IN_SOURCES and unicodedata.category(letter) in ("Cc", "Cs")
