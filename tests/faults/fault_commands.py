"""Every command that changes something, other than `run ID`: killed at any call, met by a full disk or a signal, typed again.

What it must have done is looked for in git and on the disk; the nine invariants hold as for `run`.
"""

import errno
import json
import signal
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from tests.faults.fault_errors import FILES
from tests.faults.fault_kills import RUNNER
from tests.faults.fault_lab import SLOWER, VARIANTS, Scene
from tests.faults.shim import Act, Plan
from tests.faults.trial import FaultClass, Play, Story, Trial

MEASURING = ("calibrate", "rivals", "tune", "run", "profile")
WORDS = ("--title", "another way", "--hypothesis", "less to do")
FINDING = ("--kind", "external", "--evidence", "https://example.org/a")
OWN_WORDS = "# For agents\n\nWhat the user wrote.\n"
BY_HAND = """# Kernel log on gfx1151

| # | change | effect | verdict |
| --- | --- | --- | --- |
| 1 | wider tiles | +4.0 % | keep |
| 2 | deeper pipeline | -1.0 % | reject |
"""
SUITE = """version: 1
iterations: 10
gate: {{quiet_s: 0, patterns: [], others_percent: 0}}
environments: {{here: {{}}}}
kernels:
  sum: {{argv: ["{standin}", suite, "{{M}}", "{{times}}"], shapes: [{{M: 8}}, {{M: 9}}]}}
"""
TABLES = "src/configs/cpu/hip/gemm/scaled_mm_a16w8_e5m2"
TUNE = f"""    tune:
      tables: {TABLES}
      configs: ["2,2,2,2,4,4"]
      shapes: [64x128x512]
      iterations: 2
      quads: 2
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Typed:
    """A command line on a stage. `wrong` says what it has not done, "" if all is done; `verdicts` are those of `experiment`.
    `written` are files of the user's tree that it writes and the user has not committed, as `git status` has them.
    """

    stage: str
    words: tuple[str, ...]
    wrong: Callable[[Scene], str]
    experiment: str = "P1"
    verdicts: tuple[str, ...] = ()
    written: tuple[str, ...] = ()


# ------------------------------------------------------------------ stages


def _edit(scene: Scene) -> None:
    scene.write("src/kernel", SLOWER)


def _save_patch(scene: Scene) -> None:
    (scene.root.parent / "slower.patch").write_text(scene.patch(SLOWER))


def _note_finding(scene: Scene) -> None:
    well(scene, "finding", "add", "Known before.", *FINDING)


def _keep_by_hand(scene: Scene) -> None:
    (scene.root.parent / "log.md").write_text(BY_HAND)


def _spoil_ledger(scene: Scene) -> None:
    scene.write("ledger.md", "by hand\n")


def _protocol(scene: Scene, step: str) -> None:
    protocol = (scene.root / "protocol.yaml").read_text()
    scene.write("protocol.yaml", protocol.replace("    benchmark:\n", f"{step}    benchmark:\n"))
    scene.git("commit", "-q", "-m", "another step", "--", "protocol.yaml")


def _describe_rivals(scene: Scene) -> None:
    step = f'{{argv: ["{scene.lab.standin}", rivals, "{{artifact}}", "{{out}}"], timeout_s: 60}}'
    _protocol(scene, f"    rivals: {step}\n")


def _describe_suite(scene: Scene) -> None:
    scene.write("suite.yaml", SUITE.format(standin=scene.lab.standin))
    scene.git("add", "suite.yaml")
    scene.git("commit", "-q", "-m", "suite", "--", "suite.yaml")


def _describe_tuning(scene: Scene) -> None:
    _protocol(scene, TUNE)


def _write_to_agents(scene: Scene) -> None:
    scene.write("AGENTS.md", OWN_WORDS)


def well(scene: Scene, *words: str) -> None:
    attempt = scene.run(*words)
    if attempt.status:
        raise RuntimeError(f"setting up failed: {attempt}")


VARIANTS.update(
    {
        "agents": _write_to_agents,
        "by-hand": _keep_by_hand,
        "edited": _edit,
        "found": _note_finding,
        "patched": _save_patch,
        "rivals": _describe_rivals,
        "spoilt": _spoil_ledger,
        "suite": _describe_suite,
        "tuned": _describe_tuning,
    }
)

# ------------------------------------------------------------------ what is done


def at_head(scene: Scene, path: str) -> str:
    return scene.git("show", f"HEAD:{path}", check=False)


def _entries(scene: Scene, folder: str = "experiments") -> list[str]:
    return scene.git("ls-tree", "--name-only", f"HEAD:{folder}", check=False).split()


def _lacks(path: str, text: str, times: int = 1) -> Callable[[Scene], str]:
    """The committed file holds the text, so many times."""

    def wrong(scene: Scene) -> str:
        count = at_head(scene, path).count(text)
        return "" if count == times else f"{path} has {text!r} {count} times"

    return wrong


def _not_queued(scene: Scene) -> str:
    ids = [name for name in _entries(scene) if name.startswith("P")]
    if ids != ["P0", "P1", "P2"] or SLOWER.strip() not in at_head(scene, "experiments/P2/change.patch"):
        return f"the queue has {ids}"
    return "the edit stays in the work tree" if scene.git("diff", "--", "src") else ""


def _not_imported(scene: Scene) -> str:
    records = [name for name in _entries(scene) if _entries(scene, f"experiments/{name}") == ["record.json"]]
    return "" if len(records) == 2 else f"the rows became {records}"


def _ledger_differs(scene: Scene) -> str:
    same = (scene.root / "ledger.md").read_text() == at_head(scene, "ledger.md")
    return "" if same else "ledger.md is not the committed one"


def _not_calibrated(scene: Scene) -> str:
    home = Path(scene.environment["HOME"])
    return "" if any(home.glob(".local/state/expctl/calibrations/*/*.json")) else "no calibration is stored"


def _no_rivals(scene: Scene) -> str:
    found = _entries(scene, "experiments/rivals")
    return "" if len(found) in (1, 2) else f"{len(found)} files of rivals"  # two where the kill came after the commit


def _not_timed(scene: Scene) -> str:
    rows = (scene.root / "results" / "here.csv").read_text().splitlines()
    shapes = [row.split(",")[1] for row in rows[1:]]
    facts = json.loads((scene.root / "results" / "here.json").read_text())
    left = sorted(each.name for each in (scene.root / "results").iterdir())
    sound = shapes == ["M=8"] * 3 + ["M=9"] * 3 and "cases" in facts and left == ["here.csv", "here.json"]
    return "" if sound else f"the results are {shapes}, {left}"


def _not_tuned(scene: Scene) -> str:
    tables = scene.git("ls-tree", "-r", "--name-only", "HEAD", TABLES)
    ids = [name for name in _entries(scene) if name.startswith("P")]
    left = [path.name for path in scene.state.glob("tune/*.jsonl")]
    return "" if tables and ids == ["P0", "P1", "P2"] and not left else f"tables {tables!r}, experiments {ids}, left {left}"


def _queue_left(scene: Scene) -> str:
    """P2 changes the lines that P1 has changed by then."""
    verdict, ticket = scene.record_field("P1", "verdict"), at_head(scene, "experiments/P2/queued.json")
    blocked = json.loads(ticket or "{}").get("blocked")
    return "" if verdict == "KEEP" and blocked else f"P1 is {verdict}, P2 is {'blocked' if blocked else 'not blocked'}"


def _agents_not_told(scene: Scene) -> str:
    text, skill = ((scene.root / name).read_text() for name in ("AGENTS.md", ".agents/skills/expctl/SKILL.md"))
    left = sorted(scene.root.glob(".*.new")) + sorted(scene.root.glob(".agents/**/.*.new"))
    if not text.startswith(OWN_WORDS):
        return "what the user wrote in AGENTS.md is gone"
    return "" if "expctl" in text and "expctl" in skill and not left else f"the files are not whole; left: {left}"


def _nothing_wrong(_: Scene) -> str:
    return ""


# ------------------------------------------------------------------ the commands

COMMANDS: Mapping[str, Typed] = {
    "new --from-diff": Typed(stage="first edited", words=("new", "--from-diff", *WORDS), wrong=_not_queued),
    "new ID": Typed(stage="first edited", words=("new", "P2", "--from-diff", *WORDS), wrong=_not_queued),
    "new --patch": Typed(stage="first patched", words=("new", "--patch", "../slower.patch", *WORDS), wrong=_not_queued),
    "queue": Typed(
        stage="first",
        words=("queue", "P1", "--priority", "7"),
        wrong=_lacks("experiments/P1/queued.json", '"priority": 7'),
    ),
    "withdraw": Typed(
        stage="first", words=("withdraw", "P1", "--why", "P9 does it"), wrong=_lacks("experiments/P1/queued.json", "P9 does it")
    ),
    "finding add": Typed(
        stage="first",
        words=("finding", "add", "Reads are free.", *FINDING),
        wrong=_lacks("experiments/findings.yaml", "Reads are free."),
    ),
    "finding supersede": Typed(
        stage="first found",
        words=("finding", "supersede", "F1", "--by", "https://example.org/b"),
        wrong=_lacks("experiments/findings.yaml", "https://example.org/b"),
    ),
    "import": Typed(
        stage="first by-hand", words=("import", "../log.md", "--target", "gfx1151", "--renumber"), wrong=_not_imported
    ),
    "ledger": Typed(stage="first spoilt", words=("ledger",), wrong=_ledger_differs),
    "calibrate": Typed(stage="first", words=("calibrate", "--rounds", "5", "--wait", "60"), wrong=_not_calibrated),
    "rivals": Typed(stage="first rivals", words=("rivals", "--wait", "60"), wrong=_no_rivals),
    "suite run": Typed(
        stage="first suite",
        words=("suite", "run", "--env", "here", "--wait", "60"),
        wrong=_not_timed,
        written=("?? results/here.csv", "?? results/here.json"),
    ),
    "tune": Typed(stage="first tuned", words=("tune", "--wait", "60"), wrong=_not_tuned, experiment="P2", verdicts=("KEEP",)),
    "run --all": Typed(stage="first slower", words=("run", "--all", "--wait", "60"), wrong=_queue_left, verdicts=("KEEP",)),
    "profile ID": Typed(stage="first", words=("profile", "P0"), wrong=_nothing_wrong),
    "agents setup": Typed(
        stage="first agents",
        words=("agents", "setup"),
        wrong=_agents_not_told,
        written=("?? AGENTS.md", "?? .agents/skills/expctl/SKILL.md"),
    ),
}


def played(trial: Trial, typed: Typed, plan: Plan) -> Story:
    """The command with the plan, spread over its calls, then the same command again until it ends well, at most twice."""
    story = trial.begin(typed.stage, typed.experiment, *typed.verdicts, words=typed.words)
    story.allow_unclean(*typed.written)
    scene = story.scene
    last = scene.run(*typed.words, plan=replace(plan, at=trial.one_of(trial.lab.calls(typed.stage, typed.words, plan))))
    for _ in range(story.expected.resumes):
        if last.status == 0:
            break
        last = scene.run(*typed.words)
    if typed.words[0] not in MEASURING:
        scene.run("doctor", "--clear")  # scratch of a killed command, which the next `run` would clear
    if last.status != 0:
        story.say(f"7: {' '.join(typed.words[:2])} typed again ends with {last.status}: {last.said[-400:]}")
    try:
        wrong = typed.wrong(scene)
    except OSError as error:
        wrong = str(error)
    if wrong:
        story.say(f"1: it says that it is done, and {wrong}")
    return story


def _killed(name: str) -> Play:
    return lambda trial: played(trial, COMMANDS[name], RUNNER)


def _any(*plans: Plan) -> Play:
    def play(trial: Trial) -> Story:
        typed = COMMANDS[list(COMMANDS)[trial.number % len(COMMANDS)]]
        return played(trial, typed, trial.draw.choice(plans))

    return play


PLANTED = {
    "new --from-diff": "the same new is not known",
    "new ID": "publications are not recovered",
    "new --patch": "the same new is not known",
    "queue": "publications are not recovered",
    "withdraw": "the same withdrawal is not known",
    "finding add": "the same finding is not known",
    "finding supersede": "the same mark is not known",
    "import": "rows that were imported are not known",
    "ledger": "what a killed write left stays",
    "calibrate": "check-outs stay",
    "rivals": "publications are not recovered",
    "suite run": "a suite does not go on",
    "tune": "a tuning that landed is not known",
    "run --all": "publications are not recovered",
    "profile ID": "check-outs stay",
    "agents setup": "files for agents are written in place",
}

TYPED = (
    *(FaultClass(name=f"kill {name}", play=_killed(name), planted=planted) for name, planted in PLANTED.items()),
    FaultClass(
        name="ENOSPC, other commands",
        play=_any(*(Plan(act=act, number=errno.ENOSPC, kinds=FILES) for act in (Act.FAIL_ONCE, Act.FAIL_FROM))),
        planted="errors of the machine are bugs",
    ),
    FaultClass(
        name="TERM, other commands",
        play=_any(Plan(act=Act.SIGNAL_RUNNER, number=signal.SIGTERM)),
        planted="check-outs stay",
    ),
)
