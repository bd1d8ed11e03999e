"""Every command of `expctl --help` but `fleet` (tests/fleet/kills.py): how it is typed, and what has to be true when it has
completed.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from tests.faults import outside_before as before
from tests.faults.outside_before import TABLES, WORDS
from tests.faults.outside_stage import FASTER, Stage

WAIT = ("--wait", "60")
EXTERNAL = ("--kind", "external", "--evidence", "https://example.org")
MADE_WITH = ("--compiler", "clang 20", "--driver", "", "--device", "a processor")
STATE = ".git/expctl"


@dataclass(frozen=True, slots=True, kw_only=True)
class Command:
    """A command line, what is done before, and what has to be true when it has completed. (A trial also compares the work tree,
    what the doctor says, and the exit status with those of an undisturbed call.)

    `before` is done once for all commands that name it, and the stage then copied; `there` in each copy, as it leaves
    absolute paths. `asked` is a file beside the repository for its standard input. `serves`: it goes on until Ctrl-C, and
    has begun once it has printed a line. `same`: untracked files that it writes are the same each time.
    """

    words: tuple[str, ...]
    done: Callable[[Stage], bool] = lambda _: True
    before: Callable[[Stage], object] = before.nothing
    there: Callable[[Stage], object] = lambda _: None
    asked: str = ""
    serves: bool = False
    same: bool = True


def _queued(stage: Stage) -> bool:
    return {"P1", "P2"} <= set(stage.names()) and "P3" not in stage.names() and FASTER not in stage.git("diff")


def _has_ended(stage: Stage, experiment: str) -> bool:
    """It has a record; or its ticket says that what another one has landed is in its way."""
    if "record.json" in stage.names(f"experiments/{experiment}"):
        return True
    return bool(json.loads(stage.at_head(f"experiments/{experiment}/queued.json")).get("blocked"))


def _both_ended(stage: Stage) -> bool:
    return all(_has_ended(stage, name) for name in ("P1", "P2"))


def _on_branch(stage: Stage) -> bool:
    return '"verdict"' in stage.git("show", "night:experiments/P1/record.json")


def _holds(path: str, text: str, times: int = 1) -> Callable[[Stage], bool]:
    """The committed file holds the text, so many times."""
    return lambda stage: stage.at_head(path).count(text) == times


def _finding(text: str) -> Callable[[Stage], bool]:
    return _holds("experiments/findings.yaml", text)


def _findings(stage: Stage) -> int:
    return len(re.findall(r"\bid: F\d", stage.at_head("experiments/findings.yaml")))


def _there(*names: str) -> Callable[[Stage], bool]:
    """Files in the work tree that are not empty."""
    return lambda stage: all((stage.root / name).stat().st_size for name in names)


def _record(experiment: str, field: str) -> Callable[[Stage], bool]:
    return lambda stage: bool(json.loads(stage.at_head(f"experiments/{experiment}/record.json")).get(field))


def _granted(stage: Stage) -> bool:
    return "finding_add" in (stage.root / STATE / "grants.json").read_text()


def _revoked(stage: Stage) -> bool:
    return '"run"' not in (stage.root / STATE / "grants.json").read_text()


def _tables(stage: Stage) -> bool:
    return len(list(stage.root.glob("made/cpu/hip/gemm/*/*.json"))) == 3


def _nothing_unfinished(stage: Stage) -> bool:
    return not list((stage.root / STATE).glob("publication*")) and not (stage.root / ".git/index.lock").exists()


def _told(stage: Stage) -> bool:
    text = (stage.root / "AGENTS.md").read_text()
    return text.startswith(before.OWN_WORDS) and "expctl" in text and _there(".agents/skills/expctl/SKILL.md")(stage)


def _applied(stage: Stage) -> bool:
    return stage.git("diff", "--name-only").split() == ["src/extra.py", "src/total.py"]


def _init(*words: str) -> Command:
    return Command(words=("init", *words), before=before.bare, done=_there("protocol.yaml"))


def _reads(*words: str, done: Callable[[Stage], bool] = lambda _: True) -> Command:
    """A command on a stage with concluded experiments."""
    return Command(words=words, before=before.concluded, done=done)


QUEUE: Mapping[str, Command] = {
    "new ID": Command(words=("new", "P2", "--from-diff", *WORDS), before=before.edited, done=_queued),
    "new": Command(words=("new", "--from-diff", *WORDS), before=before.edited, done=_queued),
    "new --patch": Command(words=("new", "--patch", "../wide.patch", *WORDS), before=before.patched, done=_queued),
    "new --from": Command(
        words=("new", "--from", "1-tunable-gemm"),
        before=before.optional,
        done=_holds("experiments/P2/change.patch", "PYTORCH_TUNABLEOP_ENABLED"),
    ),
    "queue": Command(words=("queue", "P1", "--priority", "7"), done=_holds("experiments/P1/queued.json", '"priority": 7')),
    "withdraw": Command(
        words=("withdraw", "P1", "--why", "P9 does it"), done=_holds("experiments/P1/queued.json", "P9 does it")
    ),
    "withdraw begun": Command(
        words=("withdraw", "P1", "--why", "P9 does it"),
        there=before.begun,
        done=_holds("experiments/P1/queued.json", "P9 does it"),
    ),
    "finding add": Command(words=("finding", "add", "Reads are free.", *EXTERNAL), done=_finding("Reads are free.")),
    "finding add measured": _reads(
        "finding", "add", "Lists are quick.", "--evidence", "P2", "--evidence", "P3", done=_finding("Lists are quick.")
    ),
    "finding add static": Command(
        words=("finding", "add", "No spills.", "--kind", "static", "--evidence", "https://example.org"),
        done=_finding("No spills."),
    ),
    "finding add imported": Command(
        words=("finding", "add", "Tiles pay.", "--kind", "imported", "--evidence", "https://example.org"),
        done=_finding("Tiles pay."),
    ),
    "finding supersede": Command(
        words=("finding", "supersede", "F1", "--by", "https://example.org/b"), done=_finding("https://example.org/b")
    ),
    "finding contradict": Command(
        words=("finding", "contradict", "F1", "--by", "F2"), before=before.two_findings, done=_finding("contradicted_by")
    ),
    "import": Command(
        words=("import", "../log.md", "--target", "gfx1151", "--renumber"),
        before=before.by_hand,
        done=lambda stage: len(stage.names()) == 4,  # P1, findings.yaml, two rows
    ),
    "import --map": Command(
        words=("import", "../log.md", "--target", "gfx1151", "--renumber", "--map", "result=effect", "--map", "reject=REJECT"),
        before=before.by_hand,
        done=lambda stage: len([name for name in stage.names() if name.startswith("P")]) == 3,
    ),
    "ledger": Command(
        words=("ledger",),
        before=before.spoilt_ledger,
        done=lambda stage: (stage.root / "ledger.md").read_text() == stage.at_head("ledger.md"),
    ),
}
MEASURING: Mapping[str, Command] = {
    "run": Command(words=("run", "P1", *WAIT), done=_record("P1", "verdict")),
    "run several": Command(words=("run", "P1", "P2", *WAIT), before=before.apart, done=_both_ended),
    "run --all": Command(words=("run", "--all", *WAIT), before=before.second, done=_both_ended),
    "run --all --branch": Command(words=("run", "--all", "--branch", "night", *WAIT), done=_on_branch),
    "run --all --propose": Command(
        words=("run", "--all", "--propose", "1", *WAIT), before=before.proposer, done=_record("P2", "verdict")
    ),
    "run --again": _reads("run", "P2", "--again", *WAIT, done=_record("P2", "verdict")),
    "run --extend": Command(words=("run", "P1", "--extend", *WAIT), before=before.undecided, done=_record("P1", "verdict")),
    # Each call measures anew: slots of two calls where the kill came late.
    "run --blind": Command(words=("run", "--blind", "2", *WAIT), done=_there("experiments/blind.jsonl")),
    # A kill after its very end, while Python exits, is answered by another tuning, which finds nothing better.
    "tune": Command(
        words=("tune", *WAIT),
        before=before.tuning,
        done=lambda stage: "P4" not in stage.names() and bool(stage.at_head(f"{TABLES}/DEFAULT.json")),
    ),
    "tune drift": _reads("tune", "drift", "P2", *WAIT, done=_record("P2", "drift")),
    "calibrate": Command(
        words=("calibrate", "--rounds", "5", *WAIT),
        done=lambda stage: any(stage.beside.glob(".local/state/expctl/calibrations/*/*.json")),
    ),
    # Each call measures anew: two where the kill came after the commit.
    "rivals": Command(
        words=("rivals", *WAIT), before=before.rival, done=lambda stage: len(stage.names("experiments/rivals")) in (1, 2)
    ),
    "suite run": Command(
        words=("suite", "run", "--env", "here", "--out", "../results", *WAIT),
        before=before.suite,
        done=lambda stage: {"M=8", "M=9"} <= set((stage.beside / "results" / "here.csv").read_text().split(",")),
    ),
    "audit": _reads("audit", "--leave-one-out", *WAIT),
    # Each call measures anew, and what it finds is a finding of its own or the same.
    "audit --record": _reads("audit", "--bisect", "--record", *WAIT, done=lambda stage: _findings(stage) in (2, 3)),
    "try": Command(words=("try",), before=before.edited),
    "try PATCH": Command(words=("try", "../wide.patch"), before=before.patched),
    "harness check": Command(words=("harness", "check")),
    "profile ID": _reads("profile", "P2"),
    "brief --count": Command(words=("brief", "--count")),
    "ledger --count": Command(words=("ledger", "--count"), done=_there("experiments/hot_loops.json")),
}
OTHERS: Mapping[str, Command] = {
    **{f"init {kind}": _init("--kind", kind) for kind in ("c", "hip", "cuda", "torch", "triton", "python")},
    "init": Command(words=("init",), before=before.own_kernel, done=_there("protocol.yaml", "own.c")),
    "agents setup": Command(words=("agents", "setup"), before=before.agents_words, done=_told),
    "agents grant": Command(words=("agents", "grant", "finding_add"), before=before.granted, done=_granted),
    "agents revoke": Command(words=("agents", "revoke", "run"), before=before.granted, done=_revoked),
    "mcp": Command(words=("mcp",), before=before.conversation, asked="said.jsonl", done=_queued),
    "tune import": Command(
        words=("tune", "import", "../flat", "--out", "made", *MADE_WITH), before=before.flat_tables, done=_tables
    ),
    "tune export": Command(
        words=("tune", "export", "../tables/cpu/hip/gemm/scaled_mm_a16w8_e5m2", "--out", "flat"),
        before=before.tables,
        done=lambda stage: len(list(stage.root.glob("flat/*.json"))) == 3,
    ),
    "report --html": Command(
        words=("report", "--html", "report.html"), before=before.concluded, done=_there("report.html"), same=False
    ),
    "report --serve": Command(words=("report", "--serve", "--port", "0"), before=before.concluded, serves=True),
    "status --watch": Command(words=("status", "--watch"), serves=True),
    "show --plot": _reads("show", "P2", "--plot", "P2.png", done=_there("P2.png")),
    "show --apply": Command(words=("show", "P1", "--apply"), done=_applied),
    "ledger --plot": _reads("ledger", "--plot", "all.png", done=_there("all.png")),
    "doctor --clear": Command(words=("doctor", "--clear"), there=before.begun, done=_nothing_unfinished),
    "doctor env": Command(words=("doctor", "env")),
    "doctor walls": Command(words=("doctor", "walls")),
    "rules --probe": Command(words=("rules", "--probe", "P4"), before=before.probed),
    "rules check": _reads("rules", "check", "experiments/P1/change.patch"),
    "rules test": _reads("rules", "test", "P3"),
    "replay": _reads("replay", "--all"),
    "verify": _reads("verify"),
    "check": Command(
        words=("check", "../twice.hip", "--launch", "../case.yaml", "--sarif", "found.sarif"),
        before=before.hip,
        done=_there("found.sarif"),
    ),
    "explain": Command(words=("explain", "../twice.hip", "--launch", "../case.yaml"), before=before.hip),
    "inspect": Command(words=("inspect", "../twice.hip"), before=before.hip),
    "profile show": Command(
        words=("profile", "show", "../before.csv", "--html", "kernels.html"),
        before=before.profiles,
        done=_there("kernels.html"),
    ),
    "profile diff": Command(words=("profile", "diff", "../before.csv", "../after.csv"), before=before.profiles),
    "profile bottleneck": Command(words=("profile", "bottleneck", "../before.csv"), before=before.profiles),
    "compare": Command(words=("compare", "../golden.csv", "../tot.csv"), before=before.times),
    "suite coverage": Command(words=("suite", "coverage"), before=before.suite),
    "show": _reads("show", "P2"),
    "status": _reads("status"),
    "gate": _reads("gate"),
    "queue list": _reads("queue"),
    "report": _reads("report"),
    "brief": _reads("brief"),
    "finding list": _reads("finding"),
    "ledger --check": _reads("ledger", "--check"),
    "rules": _reads("rules"),
    "rules why": _reads("rules", "why", "P3"),
    "occupancy": Command(words=("occupancy", "--arch", "gfx1151", "--vgpr", "96", "--workgroup", "256")),
    "agents grants": Command(words=("agents", "grants")),
    "--install-completion": Command(
        words=("--install-completion", "bash"),
        done=lambda stage: (stage.beside / ".bashrc").read_text().count("expctl.sh") == 1,
    ),
}
COMMANDS: Mapping[str, Command] = {**QUEUE, **MEASURING, **OTHERS}
