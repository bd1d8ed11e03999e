"""Every `--json` says which form its facts have, and docs/JSON.md lists all forms."""

import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from expctl.cli.app import application
from expctl.inspection.device_compiler import Options, compile_source
from tests.e2e.foreign import FASTER, WRONG, Foreign

ROOT = Path(__file__).parents[2]
TIMES = "kernel,shape,time_us\ngemm,8192,10\n"
TRACE = "Kernel_Name,Start_Timestamp,End_Timestamp\ngemm,1,9\n"
HAND_KEPT = "| ID | Title | Verdict | Result |\n|---|---|---|---|\n| P50 | wider | KEEP | +3.0 % |\n"
SOURCE = "#include <hip/hip_runtime.h>\n__global__ void twice(float *x) { x[threadIdx.x] *= 2.0f; }\n"
NAME = "Cijk_Ailk_Bljk_HHS_BH_MT128x128x32_SE"


def verbs() -> Iterator[tuple[str, ...]]:
    """Every command that takes --json, as words of the command line."""
    from typer.main import get_command

    root = get_command(application())
    for verb, command in getattr(root, "commands", {}).items():
        for words, each in [
            ((verb,), command),
            *(((verb, name), sub) for name, sub in getattr(command, "commands", {}).items()),
        ]:
            if any("--json" in parameter.opts for parameter in each.params):
                yield words


# What is typed, in this order, in one repository; the schema that is expected; the exit status, if it is not 0.
COMMANDS: list[tuple[str, str, int]] = [
    ("new P1 --patch faster.patch", "new/1", 0),
    ("new P2 --patch wrong.patch", "new/1", 0),
    ("withdraw P2 --why nobody_wants_it", "withdraw/1", 0),
    ("show P1", "proposal/1", 0),
    ("queue", "queue/1", 0),
    ("gate", "gate/1", 0),
    ("run P1", "run/1", 0),
    ("show P1", "record/3", 0),
    ("audit", "audit/1", 0),
    ("status", "status/1", 0),
    ("brief", "brief/1", 0),
    ("ledger", "ledger/1", 0),
    ("ledger --check", "ledger/1", 0),
    ("replay --all", "replay/1", 0),
    ("rules", "rules/1", 0),
    ("rules check wrong.patch", "rules-check/1", 0),
    ("finding add wide_reads_help --kind external", "finding/1", 0),
    ("finding supersede F1 --by P1", "finding/1", 0),
    ("finding contradict F1 --by P1", "finding/1", 0),
    ("finding list", "finding-list/1", 0),
    ("doctor", "doctor/1", 0),
    ("calibrate --rounds 5", "calibrate/1", 0),
    ("import ledger_by_hand.md --target gfx1151 --dry-run", "import-plan/1", 0),
    ("import ledger_by_hand.md --target gfx1151", "import/1", 0),
    ("compare times.csv times.csv", "compare/1", 0),
    ("inspect twice.s", "inspect/1", 0),
    ("inspect twice.s twice.s", "inspect-diff/1", 0),
    ("occupancy --vgpr 128 --workgroup 128", "occupancy/1", 0),
    ("profile show trace.csv", "profile-show/1", 0),
    ("profile diff trace.csv trace.csv", "profile-diff/1", 0),
    (f"profile decode {NAME}", "profile-decode/1", 0),
]
ELSEWHERE = {"rules-probe/1"}  # needs a rule with a probe: tests/e2e/test_rules.py


@pytest.mark.filterwarnings("ignore:.*click.*:DeprecationWarning")  # of typer's own imports, with a newer click
def test_every_command_with_json_is_tried() -> None:
    tried = [words.split() for words, _, _ in COMMANDS]
    assert [words for words in verbs() if not any(each[: len(words)] == list(words) for each in tried)] == []


@pytest.fixture
def stocked(repository: Foreign) -> Foreign:
    """A repository with a file for each command that reads one; all are untracked but ignored."""
    files = {"times.csv": TIMES, "trace.csv": TRACE, "ledger_by_hand.md": HAND_KEPT}
    for name, kernel in (("faster.patch", FASTER), ("wrong.patch", WRONG)):
        repository.write("src/total.py", kernel)
        files[name] = repository.git("diff") + "\n"
        repository.git("checkout", "-q", "--", "src")
    for name, text in files.items():
        repository.write(name, text)
    source = repository.home / "twice.hip"
    source.write_text(SOURCE)
    repository.write("twice.s", compile_source(source, Options(arch="gfx1151")).assembly)
    repository.write(".gitignore", "*.patch\n*.csv\n*.s\nledger_by_hand.md\n")
    repository.commit("files to read")
    return repository


def test_json_says_which_form_it_has(stocked: Foreign) -> None:
    for words, schema, status in COMMANDS:
        answer = stocked.expctl(*words.split(), "--json")
        assert answer.status == status, f"{words}: {answer}"
        facts = json.loads(answer.out)
        assert next(iter(facts.items())) == ("schema", f"expctl.{schema}"), words


def test_the_page_lists_every_form_once() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "expctl/cli").glob("**/*.py"))
    used = set(re.findall(r'schema="([a-z/0-9-]+)"', sources)) | {"record/3"}
    listed = re.findall(r"^\|[^|]*\| `expctl\.([a-z/0-9-]+)` \|", (ROOT / "docs/JSON.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(used)
    assert {schema for _, schema, _ in COMMANDS} | ELSEWHERE == used
