"""What is done in the stage before a command that will be killed from outside."""

import json
import shutil
import signal
import time
from pathlib import Path

from tests.faults.outside_stage import FASTER, Stage

E2E = Path(__file__).parents[1] / "e2e"
WRONG = "def total(values):\n    return sum([value * value for value in values]) + (len(values) == 7)\n"
WORDS = ("--title", "the builtin", "--hypothesis", "less to interpret")
OWN_WORDS = "# For agents\n\nWhat the user wrote.\n"
BY_HAND = """# Kernel log on gfx1151

| # | change | effect | verdict |
| --- | --- | --- | --- |
| 1 | wider tiles | +4.0 % | keep |
| 2 | deeper pipeline | -1.0 % | reject |
"""
RIVALS_STEP = """    rivals:
      argv: ["{python}", -S, bench/rivals.py, "{artifact}", "{out}"]
      timeout_s: 60
"""
TABLES = "src/configs/cpu/hip/gemm/scaled_mm_a16w8_e5m2"
TUNE_STEP = f"""    tune:
      tables: {TABLES}
      configs: ["2,2,2,2,4,4"]
      shapes: [64x128x512, 64x512x128]
      quads: 2
"""
SUITE = """version: 1
iterations: 10
gate: {quiet_s: 0, patterns: [], others_percent: 0}
environments: {here: {}}
kernels:
  sum:
    source: bench/load.py
    benchmark: bench/times.py
    argv: ["{python}", "{benchmark}", "{M}", "13", "{times}"]
    shapes: [{M: 8}, {M: 9}]
"""
TIMES = """import sys
size, calls, times = sys.argv[1:]
with open(times, "w") as file:
    file.writelines(f"{100 + int(size)}\\n" for _ in range(int(calls)))
"""
NOISY = """import sys

from say import heard, say

with open(sys.argv[1]) as file:
    gain, noise = 0.0 if "result" in file.read() else 0.02, 0.0
for line in sys.stdin:
    request = heard(line)
    if request["do"] == "begin":
        noise = request["seed"] % 1009 / 1009 - 0.5
        say(event="ready")
    elif request["do"] == "time":
        ns = [int(1_000_000 * (1 - gain + 1.5 * gain * noise))] * request["iterations"]
        say(event="sample", size=request["size"], ns=ns, outside_ns=sum(ns) + 1000)
    else:
        break
say(event="end", ok=True)
"""
PROPOSER = """import json, pathlib, sys
told = json.load(sys.stdin)
home = pathlib.Path(told["scratch"]) / "experiments" / told["brief"]["next_id"]
home.mkdir()
words = f"id: {home.name}\\ntitle: a list\\nkind: perf\\nhypothesis: less waste\\nprediction: {{verdict: KEEP}}\\n"
(home / "experiment.yaml").write_text(words)
(home / "change.patch").write_text(pathlib.Path(sys.argv[1]).read_text())
"""
FLAT = "cpu-SCALED_MM-A16W8-E5M2"
CONFIG = {"WARPS_M": 2, "WARPS_N": 2, "UNROLL_K": 2, "STAGES": 2, "REPEAT_M": 4, "REPEAT_N": 4}
HIP = """#include <hip/hip_runtime.h>
__global__ void twice(float *x, int n) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < n) x[i] *= 2.0f;
}
"""
CASE = """kernel: twice
shapes: {n: 1000}
grid: ["(n + 255) // 256"]
block: [256]
arguments:
  - {name: x, dtype: f32, shape: [n], role: inout}
  - {name: n, dtype: i32, value: n}
"""
OWN_C = "double own(const double *x, long n) {\n    return x[n - 1];\n}\n"


def nothing(_: Stage) -> None:
    """The stage as it is."""


def patched(stage: Stage) -> None:
    stage.edit()
    (stage.beside / "wide.patch").write_text(stage.git("diff"))
    stage.git("checkout", "-q", "--", "src")


def rival(stage: Stage) -> None:
    shutil.copy(E2E / "rivals" / "script.py", stage.root / "bench" / "rivals.py")
    stage.add_step(RIVALS_STEP)
    stage.commit("rivals")


def tuning(stage: Stage) -> None:
    """Commit what to tune, and a benchmark whose times are known."""
    shutil.copy(E2E / "tuning" / "benchmark.py", stage.root / "bench" / "benchmark.py")
    stage.add_step(TUNE_STEP)
    stage.commit("tuning")


def drifting(stage: Stage) -> None:
    """Commit a benchmark whose times are known, in which a list is faster unless the baseline has its best config."""
    shutil.copy(E2E / "tuning" / "drifting.py", stage.root / "bench" / "benchmark.py")
    stage.add_step(TUNE_STEP)
    stage.commit("known times")


def second(stage: Stage) -> None:
    stage.edit()
    stage.well("new", "P2", "--from-diff", *WORDS)


def apart(stage: Stage) -> None:
    """Queue P2, whose files P1 does not touch."""
    (stage.root / "src" / "other.py").write_text("SIZE = 1\n")
    stage.git("add", "-N", "src/other.py")
    stage.well("new", "P2", "--from-diff", *WORDS)


def concluded(stage: Stage) -> None:
    """P2 kept; P3 rejected with a rule; P1 undecided or rejected, or blocked by P2."""
    drifting(stage)
    second(stage)
    stage.well("run", "P2", "--wait", "60")
    stage.edit(WRONG)
    stage.well("new", "P3", "--from-diff", "--title", "wrong", "--hypothesis", "none")
    stage.well("run", "P3", "--wait", "60")


def undecided(stage: Stage) -> None:
    """P1 is 2 % faster, within noise, and ends without a verdict after the rounds that it is given."""
    (stage.root / "bench" / "benchmark.py").write_text(NOISY)
    protocol = stage.root / "protocol.yaml"
    protocol.write_text(protocol.read_text().replace("rounds: 10", "rounds: 3"))
    stage.commit("noisy times")
    stage.well("run", "P1", "--wait", "60")
    assert json.loads(stage.at_head("experiments/P1/record.json"))["verdict"] == "INCONCLUSIVE"


def begun(stage: Stage) -> None:
    """A run of P1 was killed while it measured."""
    killed = stage.start(("run", "P1", "--wait", "60"))
    journal = stage.root / ".git" / "expctl" / "journal" / "P1.jsonl"
    while killed.poll() is None and not (journal.exists() and journal.read_text().count("\n") > 4):
        time.sleep(0.01)
    killed.send_signal(signal.SIGKILL)
    killed.communicate()


def suite(stage: Stage) -> None:
    (stage.root / "bench" / "times.py").write_text(TIMES)
    (stage.root / "suite.yaml").write_text(SUITE)
    stage.commit("suite")


def proposer(stage: Stage) -> None:
    """Commit a protocol with a proposer that wants a list."""
    patched(stage)
    stage.well("withdraw", "P1", "--why", "another proposes")
    (stage.beside / "proposer.py").write_text(PROPOSER)
    argv = json.dumps(["{python}", str(stage.beside / "proposer.py"), str(stage.beside / "wide.patch")])
    protocol = stage.root / "protocol.yaml"
    protocol.write_text(f"{protocol.read_text()}proposer: {{argv: {argv}, timeout_s: 20}}\n")
    stage.commit("a proposer")


def bare(stage: Stage) -> None:
    """A repository without protocol, and without anything to measure."""
    stage.git("rm", "-q", "-r", "protocol.yaml", "src", "bench", "experiments", "ledger.md")
    (stage.root / "README").write_text("a kernel\n")
    stage.commit("nothing yet")


def own_kernel(stage: Stage) -> None:
    bare(stage)
    (stage.root / "own.c").write_text(OWN_C)
    stage.commit("a kernel in C")


def optional(stage: Stage) -> None:
    """Commit a protocol that lets experiments set the variables of a playbook."""
    (stage.root / "src" / "options.yaml").write_text("{}\n")
    protocol = stage.root / "protocol.yaml"
    names = "[PYTORCH_TUNABLEOP_ENABLED, TORCH_BLAS_PREFER_HIPBLASLT]"
    protocol.write_text(f"{protocol.read_text()}options: {{file: src/options.yaml, variables: {names}}}\n")
    stage.commit("options")


def profiles(stage: Stage) -> None:
    golden = Path(__file__).parents[1] / "profiles" / "golden"
    for version, name in (("6.3", "before"), ("7.0", "after")):
        shutil.copy(golden / f"rocprofv3_{version}_doc_kernel_trace.csv", stage.beside / f"{name}.csv")


def probed(stage: Stage) -> None:
    """P3 was rejected with a rule that a probe opens."""
    concluded(stage)
    stage.edit(WRONG.replace("in values]", "in list(values)]"))
    home = stage.root / "experiments" / "P4"
    home.mkdir()
    (home / "change.patch").write_text(stage.git("diff", "--", "src"))
    stage.git("checkout", "-q", "--", "src")
    words = "id: P4\ntitle: of a list\nkind: perf\nhypothesis: none\nprediction: {verdict: KEEP}\n"
    (home / "experiment.yaml").write_text(f"{words}forbids: [in list]\nprobe: {{source: probes/list.c}}\n")
    (stage.root / "probes").mkdir()
    (stage.root / "probes" / "list.c").write_text("int list(void) { return gone(); }\n")
    stage.commit("a probe")
    stage.well("run", "P4", "--wait", "60")


def times(stage: Stage) -> None:
    for name, us in (("golden", 20), ("tot", 21)):
        (stage.beside / f"{name}.csv").write_text("kernel,shape,time_us\n" + f"sum,M=8,{us}\n" * 3)


def agents_words(stage: Stage) -> None:
    (stage.root / "AGENTS.md").write_text(OWN_WORDS)
    stage.commit("words for agents")


def granted(stage: Stage) -> None:
    stage.well("agents", "grant", "run")


def conversation(stage: Stage) -> None:
    """What an agent says: it proposes a list."""
    patched(stage)
    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "agent", "version": "1"}}
    change = {"patch": (stage.beside / "wide.patch").read_text(), "title": "a list", "hypothesis": "less to interpret"}
    said: list[dict[str, object]] = [
        {"id": 1, "method": "initialize", "params": hello},
        {"method": "notifications/initialized"},
        {"id": 2, "method": "tools/call", "params": {"name": "propose", "arguments": change}},
    ]
    (stage.beside / "said.jsonl").write_text("".join(f"{json.dumps({'jsonrpc': '2.0', **each})}\n" for each in said))


def flat_tables(stage: Stage) -> None:
    folder = stage.beside / "flat"
    folder.mkdir()
    for size in ("", "-N=128-K=512", "-N=512-K=128"):
        (folder / f"{FLAT}{size}.json").write_text(json.dumps({"M_LEQ_16": CONFIG, "any": CONFIG}))


def tables(stage: Stage) -> None:
    flat_tables(stage)
    words = ("--compiler", "clang 20", "--driver", "", "--device", "a processor")
    stage.well("tune", "import", "../flat", "--out", "../tables", *words)


def hip(stage: Stage) -> None:
    (stage.beside / "twice.hip").write_text(HIP)
    (stage.beside / "case.yaml").write_text(CASE)


def by_hand(stage: Stage) -> None:
    (stage.beside / "log.md").write_text(BY_HAND)


def spoilt_ledger(stage: Stage) -> None:
    (stage.root / "ledger.md").write_text("by hand\n")


def two_findings(stage: Stage) -> None:
    stage.well("finding", "add", "The reverse.", "--kind", "external", "--evidence", "https://example.org/b")


def edited(stage: Stage) -> None:
    stage.edit(FASTER)
