"""A repository in which every command that prints facts was typed once with `--json`, and what each answered."""

import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from expctl.inspection.device_compiler import Options, compile_source
from tests.e2e.foreign import FASTER, WRONG, Answer, Foreign
from tests.e2e.rivals.test_rivals import with_rivals

NAME = "Cijk_Ailk_Bljk_HHS_BH_Bias_HAS_SAV_UserArgs_MT128x128x32_MI16x16x16x1_SN_LDSB0_AFC1_AFEM1_AFEM1_ASEM1_CLR1_SE"
TITLE = "Sum in a comprehension, because the interpreter then needs fewer bytecodes for each of the many values"
# What is typed, in this order; the form that is expected; the exit status, if it is not 0.
COMMANDS = [
    (f"new P1 --patch faster.patch --title '{TITLE}'", "new/1"),
    (f"new P2 --patch wrong.patch --title '{TITLE}'", "new/1"),
    ("new --playbooks", "playbooks/1"),
    (f"withdraw P2 --why '{TITLE}'", "withdraw/1"),
    ("show P1", "proposal/1"),
    ("queue", "queue/1"),
    ("try faster.patch", "try/1"),
    ("harness check", "harness-check/1"),
    ("gate", "gate/1"),
    ("run P1", "run/1"),
    ("show P1", "record/3"),
    ("audit", "audit/1"),
    ("report", "report/1"),
    ("profile experiment P1", "profile-experiment/1"),
    ("status", "status/1"),
    ("brief", "brief/1"),
    ("ledger", "ledger/1"),
    ("ledger --check", "ledger/1"),
    ("replay --all", "replay/1"),
    ("verify", "verify/1"),
    ("rules", "rules/1"),
    ("rules check wrong.patch", "rules-check/1"),
    (f"finding add '{TITLE}' --kind external", "finding/1"),
    ("finding supersede F1 --by P1", "finding/1"),
    ("finding contradict F1 --by P1", "finding/1"),
    ("finding list", "finding-list/1"),
    ("doctor", "doctor/1"),
    ("doctor env", "doctor-env/1"),
    ("doctor walls", "doctor-walls/1"),
    ("calibrate --rounds 5", "calibrate/1"),
    ("rivals", "rivals/1"),
    ("suite run --env here --file suite.yaml --replace", "suite/1"),
    ("suite coverage --file suite.yaml", "suite-coverage/1"),
    ("tune import flat --out configs --compiler c --driver d --device e", "tune-files/1"),
    ("tune export configs/gfx950/hip/gemm/gemm --out flat_again", "tune-files/1"),
    ("inspect configs/gfx950/hip/gemm/gemm --config-for 64,512,128", "inspect-config/1"),
    ("import ledger_by_hand.md --target gfx1151 --dry-run", "import-plan/1"),
    ("import ledger_by_hand.md --target gfx1151", "import/1"),
    ("compare times.csv times.csv", "compare/1"),
    ("check long_name.s", "check-kernels/1"),
    ("check long_name.s --launch case.yaml --orders 1", "check/1"),
    ("explain long_name.s --launch case.yaml", "explain/1"),
    ("explain long_name.s long_name.s", "explain-diff/1"),
    ("inspect long_name.s", "inspect/1"),
    ("inspect long_name.s long_name.s", "inspect-diff/1"),
    ("occupancy --vgpr 256 --lds 17408 --workgroup 128", "occupancy/1"),
    ("profile show trace.csv", "profile-show/1"),
    ("profile bottleneck trace.csv", "profile-bottleneck/1"),
    ("profile diff trace.csv later.csv", "profile-diff/1"),
    (f"profile decode {NAME}", "profile-decode/1"),
    ("agents grant run --hours 1", "agents-grant/1"),
    ("agents grants", "agents-grants/1"),
    ("agents revoke run", "agents-revoke/1"),
    ("agents setup", "agents-setup/1"),
    ("agents setup --check", "agents-setup/1"),
]
FILES = {
    "times.csv": f"kernel,shape,time_us\n{NAME},M=8192 N=8192 K=8192,1234.5\n{NAME}_b,M=4 N=4 K=4,7.25\n",
    "trace.csv": f"Kernel_Name,Start_Timestamp,End_Timestamp,Grid_Size_X,LDS_Block_Size\n{NAME},1,9000,8192,512\n"
    "cast,9500,9900,64,0\n",
    "later.csv": f"Kernel_Name,Start_Timestamp,End_Timestamp\n{NAME}_other,1,7000\ncast,9500,9900\n",
    "ledger_by_hand.md": f"| ID | Title | Verdict | Result |\n|---|---|---|---|\n| P50 | {TITLE} | KEEP | +3.0 % |\n",
    "case.yaml": "grid: [1]\nblock: [64]\narguments: [{name: x, dtype: f32, shape: [64], role: inout}]\n",
    "flat/gfx950-GEMM.json": '{"any": {"BLOCK_M": 64}}',
    "times.txt": "9.5\n" * 13,
    "suite.yaml": "version: 1\ngate: {quiet_s: 0, patterns: []}\nenvironments: {here: {}}\nkernels:\n"
    f"  {NAME}:\n    benchmark: times.txt\n    argv: [cp, times.txt, '{{times}}']\n    shapes: [{{M: 8192, N: 8192}}]\n",
    ".gitignore": "flat*/\nconfigs/\ntimes.txt\nsuite.yaml\nresults/\ncase.yaml\n*.patch\n*.csv\n*.s\nledger_by_hand.md\n",
}
SOURCE = f"#include <hip/hip_runtime.h>\n__global__ void {NAME}(float *x) {{ x[threadIdx.x] *= 2.0f; }}\n"


@dataclass(frozen=True, slots=True)
class Played:
    """The repository after all of COMMANDS, and their answers."""

    repository: Foreign
    answers: list[Answer]


@pytest.fixture(scope="package")
def played(tmp_path_factory: pytest.TempPathFactory) -> Played:
    repository = Foreign.of("foreign_repository", tmp_path_factory.mktemp("played"))
    for name, kernel in (("faster.patch", FASTER), ("wrong.patch", WRONG)):
        repository.write("src/total.py", kernel)
        patch = repository.git("diff") + "\n"
        repository.git("checkout", "-q", "--", "src")
        repository.write(name, patch)
    for name, text in FILES.items():
        repository.write(name, text)
    source = repository.home / "long_name.hip"
    source.write_text(SOURCE)
    repository.write("long_name.s", compile_source(source, Options(arch="gfx1151")).assembly)
    repository.git("add", ".gitignore")
    repository.git("commit", "-q", "-m", "files to read")
    with_rivals(repository)
    return Played(repository, [repository.expctl(*shlex.split(words), "--json") for words, _ in COMMANDS])


@pytest.fixture(scope="session")
def root() -> Path:
    return Path(__file__).parents[2]
