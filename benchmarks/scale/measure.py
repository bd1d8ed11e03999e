"""Times commands as processes, in an empty repository and with ten thousand experiments, beside the listing commands of peers.

    python -m benchmarks.scale.measure FOLDER [--experiments 10000] [--repeats 7] [--peers PYTHON] [--only VERB] [--out FILE]
        [--into docs/SCALE.md]

Makes FOLDER/empty-0 and FOLDER/full-N with generate.py where they aren't there, and the stores of those peers (optuna, mlflow,
asv, dvc) that PYTHON has, with N entries each. Commands take turns, so that a slow minute meets all of them. Prints a
markdown table: medians of wall time, and of CPU time (user and system, with every process that the command started and
waited for). `--into` puts it into a document.
"""

import argparse
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from msgspec.structs import replace

from benchmarks.scale.generate import generate, load
from benchmarks.scale.history import records
from expctl.adapters.codec.record_codec import record_bytes
from expctl.adapters.git.reader import GitReader, locate
from expctl.adapters.index.record_index import RecordIndex
from expctl.adapters.records.repository_contents import GitLibrary
from expctl.adapters.rules.lookup import RuleLookup
from expctl.domain.experiment.proposal import Verdict
from expctl.domain.experiment.record import BenchmarkIdentity, Record, Rule
from expctl.domain.rules.current_facts import ProbeAnswer

HERE = Path(__file__).parent
EXPCTL = str(Path(sys.executable).with_name("expctl"))
FREE = "--- a/src/total.py\n+++ b/src/total.py\n@@ -1,2 +1,2 @@\n def total(values):\n-    result = 0\n+    result = 1 - 1\n"
KNOWN = FREE.replace("1 - 1", "2 - 2")
BEGIN, END = "<!-- measured -->", "<!-- end of what was measured -->"
NEWEST = "2027-01-01T00:00:00Z"


@dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """One command. `before` is done each time and not timed; `least` is the largest time in seconds that is asked of it, or
    of what it takes more than the command of the same words in the empty repository.
    """

    words: Sequence[str]
    cwd: Path
    what: str
    before: Callable[[], None] = lambda: None
    at_most_s: float = 0.0
    more_than: str = ""
    status: int = 0
    environment: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """One run of a command, in seconds."""

    wall_s: float
    cpu_s: float


def run(case: Case) -> Took:
    """Once, to its end. Raises SystemExit when it breaks."""
    case.before()
    begun = time.perf_counter()
    process = subprocess.Popen(
        list(case.words),
        cwd=case.cwd,
        env={**plain_environment(), **case.environment},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
    )
    said = process.stderr.read() if process.stderr else b""
    _, status, used = os.wait4(process.pid, 0)
    wall_s = time.perf_counter() - begun
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != case.status or b"BUG" in said:
        raise SystemExit(f"{' '.join(case.words)} ended with {process.returncode}: {said.decode()}")
    return Took(wall_s=wall_s, cpu_s=used.ru_utime + used.ru_stime)


def plain_environment() -> Mapping[str, str]:
    """Ours, but Python may keep what it compiled, as it does everywhere else: the turn that warms up writes it."""
    return {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


class Growing:
    """The full repository, which gets a new record whenever one is wanted."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        reader = GitReader(locate(folder))  # of what is committed: an earlier run has left records that were never checked out
        names = reader.folders_of(reader.tree_of(reader.head(), "experiments"))
        self._number = max(int(name[1:]) for name in names if name[1:].isdigit())
        stick = BenchmarkIdentity(harness="h", kpi="n=512 (1)", build="copy")
        made = records(400, 2, yardsticks={"here": stick, "gpu": stick}, protocol="p")
        self._kinds = [each for each in made if each.base and each.verdict in (Verdict.KEEP, Verdict.REJECT)]

    def grow(self) -> None:
        """One more record, as a run would have committed it."""
        self._number += 1
        self.add(replace(self._kinds[self._number % len(self._kinds)], id=f"P{self._number}", date=NEWEST))

    def forbid(self, patch: bytes) -> None:
        """A rule that knows `patch` and refuses it: what it depends on is as it was."""
        reader = GitReader(locate(self._folder))
        book = RuleLookup(reader, RecordIndex(reader, None), tool=lambda _: "", probe=no_probe)
        head = reader.head()
        identity = book.identity(head, patch)
        protocol = reader.files_identity(head, ("protocol.yaml", *GitLibrary(reader).protocol(head).harness))
        self._number += 1
        rejected = next(each for each in self._kinds if each.rule is not None)
        rule = Rule(text="known", patch_id=identity.patch_id, change=identity.change)
        self.add(replace(rejected, id=f"P{self._number}", date=NEWEST, rule=rule, protocol=protocol))

    def add(self, record: Record) -> None:
        """Commit it, index and work tree untouched."""
        load(self._folder, iter([(f"experiments/{record.id}/record.json", record_bytes(record))]))


def no_probe(_: object) -> ProbeAnswer:
    """Nothing is tried here."""
    return ProbeAnswer(passes=False, said="")


def cases(folder: Path, count: int) -> list[Case]:
    """Every command of expctl that is timed, the bars of the issue with them."""
    empty, full = folder / "empty-0", folder / f"full-{count}"
    growing = Growing(full)
    (folder / "free.patch").write_text(FREE)
    (folder / "known.patch").write_text(KNOWN)
    growing.forbid(KNOWN.encode())
    free, known = ("rules", "check", str(folder / "free.patch")), ("rules", "check", str(folder / "known.patch"))

    def forget() -> None:
        for file in (full / ".git" / "expctl").glob("records.sqlite*"):
            file.unlink()
        (full / "ledger.md").unlink(missing_ok=True)

    def case(what: str, *words: str, cwd: Path = full, **more: object) -> Case:
        return Case(words=(EXPCTL, *words), cwd=cwd, what=what, **more)  # type: ignore[arg-type]

    return [
        Case(words=(sys.executable, "-c", "pass"), cwd=empty, what="the interpreter alone"),
        case("help", "--help", cwd=empty),
        case("empty", "status", cwd=empty),
        case("full", "status", at_most_s=0.1, more_than="status"),
        case("full, one new record", "status", before=growing.grow, at_most_s=0.1, more_than="status"),
        case("empty", "ledger", cwd=empty),
        case("full, from scratch", "ledger", before=forget, at_most_s=2.5),
        case("full, one new record", "ledger", before=growing.grow, at_most_s=0.4),
        case("full, nothing new", "ledger"),
        case("empty", *free, cwd=empty),
        case("full, a free patch", *free, at_most_s=0.1),
        case("full, a patch that a rule refuses", *known, at_most_s=0.1, status=1),
        case("empty", "brief", cwd=empty),
        case("full", "brief", at_most_s=0.5),
    ]


def peer_cases(folder: Path, python: Path, count: int) -> list[Case]:
    """The listing command of each peer that `python` has, over as many entries."""
    commands = {
        "optuna": ("trials", "--study-name", "scale", "--storage", "sqlite:///optuna.db"),
        "mlflow": ("runs", "list", "--experiment-id", "1"),
        "asv": ("show", "--machine", "box"),
        "dvc": ("exp", "list"),
    }
    found = []
    for name, words in commands.items():
        if not python.with_name(name).exists():
            continue
        store = folder / f"{name}-{count}"
        if not store.exists():
            print(f"filling {name}", file=sys.stderr)
            store.mkdir()
            fill = [str(python), str(HERE / "peers.py"), name, str(store), str(count)]
            subprocess.run(fill, cwd=store, check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        environment = {"MLFLOW_TRACKING_URI": "sqlite:///mlflow.db"} if name == "mlflow" else {}
        version = subprocess.run([python, "-m", "pip", "show", name], capture_output=True, text=True, check=True).stdout
        number = next(line.split()[1] for line in version.splitlines() if line.startswith("Version"))
        case = Case(words=(str(python.with_name(name)), *words), cwd=store, what=f"version {number}", environment=environment)
        found.append(case)
    return found


def measured(timed: Sequence[Case], repeats: int) -> list[list[Took]]:
    """Once to warm up, then in turns."""
    for case in timed:
        run(case)
    took: list[list[Took]] = [[] for _ in timed]
    for turn in range(repeats):
        for number, case in enumerate(timed):
            took[number].append(run(case))
        print(f"turn {turn + 1} of {repeats}", file=sys.stderr)
    return took


def table(timed: Sequence[Case], took: Sequence[Sequence[Took]]) -> str:
    """One line each."""
    medians = [statistics.median(each.wall_s for each in runs) for runs in took]
    empty = {case.words[1]: wall for case, wall in zip(timed, medians, strict=True) if case.what == "empty"}
    lines = ["| command | with | wall, median (least) | CPU | asked for |", "| --- | --- | --- | --- | --- |"]
    for case, runs, wall in zip(timed, took, medians, strict=True):
        least, cpu = min(each.wall_s for each in runs), statistics.median(each.cpu_s for each in runs)
        asked = "-"
        if case.at_most_s:
            over = wall - empty.get(case.more_than, 0.0)
            bar = f"at most {case.at_most_s:g} s" + (" more than empty" if case.more_than else "")
            asked = f"{bar}: {over:.3f} s, {'met' if over <= case.at_most_s else 'NOT met'}"
        command = " ".join([Path(case.words[0]).name, *(Path(word).name for word in case.words[1:])])
        lines.append(f"| `{command}` | {case.what} | {wall:.3f} s ({least:.3f}) | {cpu:.3f} s | {asked} |")
    return "\n".join(lines)


def about(arguments: argparse.Namespace) -> str:
    """The kind of machine, the tools and the command."""
    virtual = "virtual " if "hypervisor" in Path("/proc/cpuinfo").read_text(encoding="utf-8") else ""
    git = subprocess.run(["git", "--version"], capture_output=True, text=True, check=True).stdout.split()[-1]
    words = f"--experiments {arguments.experiments} --repeats {arguments.repeats}{' --peers PYTHON' if arguments.peers else ''}"
    return (
        f"{len(os.sched_getaffinity(0))}-core {platform.machine().replace('_', '-')} {virtual}machine, Python"
        f" {platform.python_version()}, git {git}; {arguments.experiments} experiments, medians of {arguments.repeats}; load"
        f" average at the end {os.getloadavg()[0]:.1f}. `python -m benchmarks.scale.measure FOLDER {words}`"
    )


def put(text: str, file: Path) -> None:
    """Between the marks of a document. Raises SystemExit where there are none."""
    before, begin, rest = file.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise SystemExit(f"{file} has no lines {BEGIN} and {END}")
    file.write_text(f"{before}{begin}\n\n{text}\n{end}{after}", encoding="utf-8")


if __name__ == "__main__":
    asked = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    asked.add_argument("folder", type=Path)
    asked.add_argument("--experiments", type=int, default=10_000)
    asked.add_argument("--repeats", type=int, default=7)
    asked.add_argument("--peers", type=Path)
    asked.add_argument("--only", default="", help="of expctl's commands, this verb alone")
    asked.add_argument("--out", type=Path)
    asked.add_argument("--into", type=Path, help=f"a document with the lines {BEGIN} and {END}")
    words = asked.parse_args()
    root = words.folder.resolve()
    root.mkdir(parents=True, exist_ok=True)
    for name, number, queued in (("empty", 0, 0), ("full", words.experiments, 12)):
        if not (made := root / f"{name}-{number}").exists():
            print(f"making {made}", file=sys.stderr)
            generate(made, experiments=number, queued=queued, findings=60 if number else 0, seed=1)
    chosen = [case for case in cases(root, words.experiments) if words.only in ("", case.words[1])] + (
        peer_cases(root, words.peers.absolute(), words.experiments) if words.peers else []
    )
    text = f"{table(chosen, measured(chosen, words.repeats))}\n\n{about(words)}\n"
    if words.out:
        words.out.write_text(text, encoding="utf-8")
    if words.into:
        put(text, words.into)
    print(text)
