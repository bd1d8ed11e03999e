"""Read what a compiler wrote, function by function: `python -m ... VIEW FILE ANSWER KEPT CODE` for LLVM IR, assembly or PTX.

The answer is JSON: `functions` has a hash for each function, `parts` counts its instructions; for a folder it has these of each
file in it, and what isn't optimised is taken apart by kernel. Run as a program, so that two files can be read at the same time.
"""

from __future__ import annotations

import gc
import json
import os
import random
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path

from expctl.files.cache_folder import CacheFolder
from expctl.inspection.readers.llvm_functions import meanings, pure_functions
from expctl.inspection.readers.llvm_kernels import kernel_modules, one_of_each_kind, with_numbers
from expctl.inspection.readers.llvm_regions import instructions_by_region
from expctl.inspection.readers.llvm_sums import digest, is_digest
from expctl.inspection.readers.llvm_text import read_module
from expctl.inspection.readers.ptx_lines import ASM
from expctl.inspection.readers.ptx_values import block_hashes

_FUNCTION = re.compile(r"^\s*\.type\s+([\w.$]+),\s*@function")
_ENTRY = re.compile(r"^\s*(?:\.visible |\.weak )*\.(?:entry|func)\s+(?:\([^)]*\)\s*)?([\w$]+)")
_PTX_NAME = re.compile(r"(%(?:p|b|rs|rd|rq|r|fd|f|hh|h))\d+\b|\$L_\w+")
_PTX_NUMBER = re.compile(r"(?<=%[a-z])\d+|(?<=%[a-z]{2})\d+|(?<=\$L)\d+")
_PTX_LIMITS = (
    ".maxntid",
    ".reqntid",
    ".minnctapersm",
    ".maxnreg",
    ".maxclusterrank",
    ".reqnctapercluster",
    ".shared",
    ".local",
)
_PTX_VARIABLE = re.compile(
    r"^(?:\.(?:visible|extern|weak|common) +)*\.(?:const|global|shared) [^;=]*?([\w$]+)(?:\[\d*\])*(?: = [^;]*)?;", re.MULTILINE
)
_PTX_ASM = re.compile(r"^\s*// begin inline asm\n(.*?)\n\s*// end inline asm", re.MULTILINE | re.DOTALL)
_LABEL_NUMBER = re.compile(r"\.L(BB|func_end|JTI)\d+")
_POOL = re.compile(r"\.LCPI\d+_\d+")
_TABLE = re.compile(r"^\s*\.(?:long|quad)\s.*\.LBB")
_TABLES = re.compile(
    r"^(?!\.L(?:JTI|CPI|BB|func|tmp))([\w.$]+):[^\n]*\n((?:\s+\.(?:long|quad|short|byte|zero|asciz?|value|[248]byte)\b.*\n)+)",
    re.MULTILINE,
)
_MARKER = re.compile(r'^# \d+ "([^"]*)"')
READERS_MOST = 4
LONG = 1_000_000
"""Characters from which on a text is read by several processes."""
_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|\w+|::|[^\w\s]')
Answer = tuple[Mapping[str, str], Mapping[str, Mapping[str, int]]]


def read_functions(view: str, text: str, kept: CacheFolder | None = None) -> Answer:
    """Return a hash of each function and the counts of its instructions. `view` is that of expctl/domain/rules/meaning.py.
    What a function does is looked up in `kept` first, and put there.
    """
    if view == "regions":
        return {}, instructions_by_region(text)
    if view == "statements":
        return {}, {"": Counter(own_statements(text))}
    if view in ("meaning", "plain") and "\ntarget triple" in text:
        found = meanings(read_module(text), pure_functions(text), kept)
        return {each.key: each.whole for each in found}, {each.name: each.parts for each in found}
    if "\n.version" in text:
        bodies = {name: _without_name(name, lines) for name, lines in _bodies(text, _ENTRY).items()}
        parts = {name: Counter(map(_ptx_part, lines)) for name, lines in bodies.items()}
        whole = _bodies(_PTX_ASM.sub(lambda found: ASM + " ".join(found[1].split()).replace(" ;", ";"), text), _ENTRY)
        variables = {found[1]: found[0] for found in _PTX_VARIABLE.finditer(text)}
        whole = {name: [*lines, *_mentioned(lines, variables)] for name, lines in whole.items()}
        return _ptx_hashes({name: _ptx_names(_without_name(name, lines)) for name, lines in whole.items()}, kept), parts
    bodies = _bodies(text, _FUNCTION)
    parts = {name: Counter(each.split()[0] for each in lines) for name, lines in bodies.items()}
    tables = {found[1]: found[2] for found in _TABLES.finditer(text)}
    return {name: digest(*lines, *_mentioned(lines, tables)) for name, lines in bodies.items()}, parts


def _ptx_hashes(bodies: Mapping[str, Sequence[str]], kept: CacheFolder | None) -> Mapping[str, str]:
    """Return the hash of each function, in an order of its own (`meanings` says why)."""
    found = {}
    for name in random.sample(list(bodies), len(bodies)):
        asked = digest(*bodies[name])
        held = (kept.get(asked) or b"").decode(errors="replace") if kept is not None else ""
        found[name] = held if is_digest(held) else digest(*block_hashes(bodies[name]))
        if kept is not None and found[name] != held:
            kept.put(asked, found[name].encode())
    return {name: found[name] for name in bodies}


def own_statements(text: str) -> Iterator[str]:
    """Yield the statements of a preprocessed source that stand in files of the repository: macros expanded, tokens apart by one
    space, neighbouring strings joined.
    """
    own, kept = True, []  # type: bool, list[str]
    for line in text.split("\n"):
        marker = _MARKER.match(line)
        if marker:
            own = not marker[1].startswith(("/", "<"))
        elif own and not line.startswith("#"):
            kept.append(line)
    for each in re.split(r"(?<=[;{}])", "\n".join(kept)):
        words = " ".join(_TOKEN.findall(each))
        if words:
            yield re.sub(r'" "', "", words)


def _bodies(text: str, starts: re.Pattern[str]) -> dict[str, list[str]]:
    """Read assembly: instructions of each function, labels by their number in it, constants by what they hold."""
    pools = dict(_pools(text))
    bodies: dict[str, list[str]] = {}
    body: list[str] = []
    for line in text.split("\n"):
        opened = starts.match(line)
        if opened:
            body = bodies.setdefault(opened[1], [])
            continue
        words = _instruction(line)
        if words:
            if ".L" in words:
                words = _POOL.sub(lambda match: pools.get(match[0], match[0]), words)
                words = _LABEL_NUMBER.sub(r".L\1", words)
            body.append(words)
    return bodies


def _mentioned(lines: Sequence[str], variables: Mapping[str, str]) -> Iterator[str]:
    """Yield what the variables hold that instructions mention."""
    words = {*re.findall(r"[\w.$]+", "\n".join(lines))} if variables else ()
    yield from (declared for name, declared in variables.items() if name in words)


def _without_name(function: str, lines: Iterable[str]) -> list[str]:
    """Return instructions of PTX without the function's own name, which stands in those of its parameters and variables."""
    mangled, plain = f"_ZZ{len(function)}{re.escape(function)}", rf"(?<![\w$]){re.escape(function)}(?=_param_|(?![\w$]))"
    own = re.compile(f"{mangled}|{plain}")
    return [own.sub("itself", line) if function in line else line for line in lines]


def _ptx_names(lines: Iterable[str]) -> list[str]:
    """Return instructions of PTX with registers and labels numbered in the order in which they appear."""
    names: dict[str, str] = {}

    def one(found: re.Match[str]) -> str:
        return names.setdefault(found[0], f"{found[1] or '$L'}{len(names)}")

    return [_PTX_NAME.sub(one, line) for line in lines]


@cache
def _ptx_part(line: str) -> str:
    """Return an instruction of PTX without the numbers of registers and labels."""
    return _PTX_NUMBER.sub("", _PTX_NAME.sub(lambda found: found[1] or "$L", line))


@cache
def _instruction(line: str) -> str:
    """Return an instruction, a label, or a line that says what a kernel takes, without comment; empty for anything else."""
    plain = re.split(r"\s[;#]|//", line, maxsplit=1)[0].strip()
    if plain.startswith((".amdhsa_", ".LBB", "$L_", *_PTX_LIMITS)) or _TABLE.match(line):
        return plain
    return "" if plain.startswith((".", ";", "#")) or (plain.endswith(":") and not line.startswith("$")) else plain


def _pools(text: str) -> Iterator[tuple[str, str]]:
    for match in re.finditer(r"^(\.LCPI\d+_\d+):\n((?:\s+\.\w+.*\n)+)", text, re.MULTILINE):
        data = (re.split(r"\s#", line)[0].strip() for line in match[2].split("\n"))
        yield match[1], "{" + ",".join(each for each in data if each and not each.startswith((".section", ".p2align"))) + "}"


class Kept(CacheFolder):
    """What was read of functions by the same code; where it is not in the folder, what a commit has `brought`, which is never
    put there.
    """

    def __init__(self, folder: Path, code: str, brought: Mapping[str, str]) -> None:
        super().__init__(folder, prefix=f"{code}.")
        self._brought = brought

    def get(self, name: str) -> bytes | None:
        """Return the entry `name`; None if there is none, or it is damaged."""
        held = super().get(name)
        return held if held is not None or name not in self._brought else self._brought[name].encode()

    def put(self, name: str, contents: bytes) -> None:
        """Keep an entry if there is space: else it is read again."""
        with suppress(OSError):
            super().put(name, contents)


def main(view: str, source: str, answer: str, kept: str, code: str, brought: str) -> None:
    """Read the file or folder `source`, write `answer`; what was read of functions by this `code` is in the folder `kept`, and
    in the file `brought`.
    """
    found = Kept(Path(kept), code, json.loads(Path(brought).read_bytes()))
    if Path(source).is_dir():
        Path(answer).write_text(json.dumps(_each_of(view, [*Path(source).iterdir()], Path(answer), found)))
        return
    text = Path(source).read_text(errors="surrogateescape")
    if view == "unoptimised":
        kernels = kernel_modules(text)
        made = {name: each.text for name, each in kernels.items()}
        Path(answer).write_text(json.dumps({"kernels": made, "of_each_kind": one_of_each_kind(kernels)}))
        return
    helpers = [*_helpers(view, text, found)]
    functions, parts = read_functions(view, text, found)
    Path(answer).write_text(json.dumps({"functions": functions, "parts": parts}))
    for helper in helpers:
        os.waitpid(helper, 0)


def _each_of(view: str, files: Sequence[Path], answer: Path, kept: CacheFolder) -> Mapping[str, object]:
    """Read several files, which other processes take a share of; return what each holds."""
    longest = sorted(files, key=lambda file: -file.stat().st_size)
    count = min(len(os.sched_getaffinity(0)), READERS_MOST)
    shares = [share for at in range(count) if (share := longest[at::count])]
    helpers: dict[int, Path] = {}
    for share in shares[1:]:
        place = answer.with_name(f"{answer.name}.{len(helpers)}")
        with suppress(OSError):  # where there may be no more processes, its share is read here
            child = os.fork()
            if not child:
                try:
                    place.write_text(json.dumps(_read_files(view, share, kept)))
                finally:
                    os._exit(0)
            helpers[child] = place
    found = _read_files(view, shares[0], kept) if shares else {}
    for child, place in helpers.items():
        os.waitpid(child, 0)
        with suppress(OSError, ValueError):
            found |= json.loads(place.read_bytes())
    return found | _read_files(view, [each for each in files if each.name not in found], kept)


def _read_files(view: str, files: Iterable[Path], kept: CacheFolder) -> dict[str, object]:
    texts = ((each.name, with_numbers(each.read_text(errors="surrogateescape"))) for each in files)
    read = ((name, read_functions(view, text, kept)) for name, text in texts)
    return {name: {"functions": functions, "parts": parts} for name, (functions, parts) in read}


def _helpers(view: str, text: str, kept: CacheFolder) -> Iterator[int]:
    """Start processes that read the same long text, each in an order of its own: one finds in `kept` what others have read.
    Yield their numbers; none where there may be no more processes.
    """
    for _ in range(min(len(os.sched_getaffinity(0)), READERS_MOST) - 1 if len(text) > LONG else 0):
        try:
            child = os.fork()
        except OSError:
            return
        if not child:
            try:
                random.seed()
                read_functions(view, text, kept)
            finally:
                os._exit(0)
        yield child


if __name__ == "__main__":
    gc.disable()  # what is read has no cycles that end before the program
    main(*sys.argv[1:])
