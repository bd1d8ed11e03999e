"""`expctl suite` as typed: two environments, timed by the benchmark and by a stand-in for the profiler, then compared."""

import json
import sys
import time
import venv
from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign
from tests.refusals import printed_code

STAND_IN = Path(__file__).with_name("rocprofv3_stand_in.py")
BENCH = """import json, os, sys, time
size, calls, times, *bias = sys.argv[1:]
assert size != "M=9", "no such shape"
with open(times, "w") as file:
    for call in range(int(calls)):
        file.write(f"{(100 + int(size)) * float(os.environ['STRETCH']) * (50 if call == 0 else 1)}\\n")
print(json.dumps(sys.version_info))
"""
SUITE = """version: 1
iterations: 10
gate: {{quiet_s: 0, patterns: [], others_percent: 0}}
sources: [bench/*.py]
environments:
  golden: {{python: "{python}", set: {{STRETCH: "1"}}}}
  tot: {{set: {{STRETCH: "1.2"}}, checkouts: {{kernels: .}}}}
kernels:
  sum:
    source: bench/load.py
    benchmark: bench/suite.py
    configs: [src/*.json]
    argv: ["{{python}}", "{{benchmark}}", "{{M}}", "13", "{{times}}"]
    optional: {{bias: [--bias]}}
    bytes: {{a: 4*M, bias: "8"}}
    shapes: [{{M: 8}}, {{M: 8, bias: 1}}]
"""
TRACED = """trace: ["{python}", {stand_in}, --kernel-trace, -d, "{{out}}", --]
timed_on: gpu
"""


@pytest.fixture
def repository(tmp_path: Path) -> Foreign:
    """With a virtual environment for golden, in which a package seems to be installed."""
    venv.create(tmp_path / "venv", with_pip=False)
    package = next((tmp_path / "venv").glob("lib/python*/site-packages")) / "triton-3.4.0.dist-info"
    package.mkdir()
    (package / "METADATA").write_text("Name: triton\nVersion: 3.4.0\n")
    found = Foreign.of("foreign_repository", tmp_path)
    found.write("bench/suite.py", BENCH)
    found.write("suite.yaml", SUITE.format(python=tmp_path / "venv/bin/python"))
    found.commit("a suite")
    return found


def test_two_environments_and_compare(repository: Foreign) -> None:
    for name in ("golden", "tot"):
        said = repository.concluded("suite", "run", "--env", name).out
        assert "sum M=8 bias" in said
    rows = (repository.root / "results/golden.csv").read_text().splitlines()
    assert len(rows) == 1 + 2 * 3
    assert rows[1].startswith("sum,M=8,108,1,10,3,5400,0,108,108,108,32,")
    assert rows[4].split(",")[11] == "40"
    golden, tot = (json.loads((repository.root / f"results/{name}.json").read_text()) for name in ("golden", "tot"))
    assert golden["packages"] == {"triton": "3.4.0"}
    assert (golden["variables"]["STRETCH"], tot["variables"]["STRETCH"]) == ("1", "1.2")
    assert golden["python"].endswith("venv/bin/python")
    assert tot["kernels_commit"] == repository.git("rev-parse", "HEAD")
    files = [f"results/{name}.csv" for name in ("golden", "tot")]
    environments = ["--golden-env", "results/golden.json", "--tot-env", "results/tot.json"]
    compared = repository.concluded("compare", *files, *environments)
    assert "2 regression, 0 improved" in compared.out
    assert "* packages.triton" in compared.out
    assert repository.git("status", "--porcelain") == "?? results/"
    assert not (repository.root / ".git/expctl/suite/out").exists()


def test_the_profilers_trace_gives_the_times(repository: Foreign) -> None:
    trace = TRACED.format(python=sys.executable, stand_in=STAND_IN)
    text = (repository.root / "suite.yaml").read_text()
    repository.write("suite.yaml", trace + text + '    traced: "^gemm_prefetch$"\n')
    for name, words in (("golden", ()), ("tot", ("--json",))):
        answer = repository.concluded("suite", "run", "--env", name, *words)
        assert "within a run: sd 37 % of the mean" in answer.out or answer.json()["schema"] == "expctl.suite/1"
    first = (repository.root / "results/golden.csv").read_text().splitlines()[1].split(",")
    assert first[:7] == ["sum", "M=8", "6.42", "1", "10", "3", "3.8"]  # as recorded, in the order of start
    compared = repository.expctl("compare", "results/golden.csv", "results/tot.csv", "--fail-on-regression")
    assert compared.status == 1
    assert "2 regression" in compared.out


def test_a_benchmark_that_fails(repository: Foreign) -> None:
    text = (repository.root / "suite.yaml").read_text()
    repository.write("suite.yaml", text.replace("[{M: 8}, {M: 8, bias: 1}]", "[{M: 8}, {M: 9}]").replace('"{M}"', '"M={M}"'))
    answer = repository.expctl("suite", "run", "--env", "tot", "--out", "elsewhere")
    assert answer.status == 1
    assert "no such shape" in answer.out
    assert "failed" in json.loads((repository.root / "elsewhere/tot.json").read_text())


@pytest.mark.parametrize("rows", [0, 3, 6])
def test_the_same_command_goes_on_after_a_kill(repository: Foreign, rows: int) -> None:
    """Killed as soon as so many rows are written; what was timed is not timed again, and the files are those of one run."""
    repository.concluded("suite", "run", "--env", "tot", "--out", "whole")
    counts = 'open("count", "a").write("x")\nimport time; time.sleep(0.3)\n'
    repository.write("bench/suite.py", BENCH.replace("size, calls", f"{counts}size, calls"))
    repository.write(
        "suite.yaml",
        (repository.root / "suite.yaml").read_text().replace("  tot: {", f"  tot: {{writable: [{repository.root}], "),
    )
    repository.commit("a benchmark that counts how often it is started")
    file, count = repository.root / "results/tot.csv", repository.root / "count"
    started = repository.start("suite", "run", "--env", "tot")
    until = time.monotonic() + 60
    while (len(file.read_text().splitlines()) - 1 if file.exists() else -1) < rows and not (rows == 0 and count.exists()):
        assert time.monotonic() < until, repository.said()
        time.sleep(0.01)
    started.kill()
    started.wait()
    before = len(count.read_text())
    said = repository.concluded("suite", "run", "--env", "tot").out
    assert len(count.read_text()) - before == 6 - rows
    assert ("were timed before" in said) == bool(rows)
    assert file.read_bytes() == (repository.root / "whole/tot.csv").read_bytes()
    assert sorted(path.name for path in file.parent.iterdir()) == ["tot.csv", "tot.json"]
    assert "2 of 2 were timed before" in repository.concluded("suite", "run", "--env", "tot").out
    assert len(count.read_text()) - before == 6 - rows
    repository.concluded("suite", "run", "--env", "tot", "--replace")
    assert len(count.read_text()) - before == 12 - rows


@pytest.mark.parametrize(
    ("path", "old", "new", "found"),
    [
        ("bench/load.py", "", "# edited\n", "repository_edited"),
        ("suite.yaml", "shapes: [{M: 8},", "shapes: [{M: 7},", "cases"),
        ("suite.yaml", "iterations: 10", "iterations: 11", "iterations"),
        ("results/tot.csv", "sum,M=8,", "sum,M=80,", "times of sum M=80"),
        ("results/tot.csv", ",129.6,", ",half,", "half"),
        ("results/tot.csv", "kernel,", "", "other columns"),
        ("results/tot.json", "{", "", "tot.json"),
    ],
)
def test_results_of_something_else_are_not_gone_on_with(repository: Foreign, path: str, old: str, new: str, found: str) -> None:
    repository.concluded("suite", "run", "--env", "tot")
    file = repository.root / path
    file.write_text(file.read_text().replace(old, new, 1))
    files = [(repository.root / f"results/tot.{kind}").read_bytes() for kind in ("csv", "json")]
    refused = repository.expctl("suite", "run", "--env", "tot")
    assert (printed_code(refused.err), refused.status) == ("suite-results-exist", 1)
    assert found in refused.err
    assert files == [(repository.root / f"results/tot.{kind}").read_bytes() for kind in ("csv", "json")]


def test_coverage(repository: Foreign) -> None:
    answer = repository.expctl("suite", "coverage")
    assert answer.status == 1
    assert "no: no file fits" in answer.out
    assert "bench/benchmark.py" in answer.out
    repository.write("src/tuned.json", "{}")
    repository.write("suite.yaml", (repository.root / "suite.yaml").read_text().replace("sources: [bench/*.py]\n", ""))
    facts = repository.concluded("suite", "coverage", "--json").json()
    assert [each["configs"] for each in facts["kernels"]] == [["src/tuned.json"]]


@pytest.mark.parametrize(
    ("old", "new", "words", "code"),
    [
        ("iterations: 10", "iterations: 9", ("--env", "tot"), "file-contradicts-itself"),
        ("iterations: 10", "iterations: 10\nwarmups: 1", ("--env", "tot"), "file-contradicts-itself"),
        ("iterations: 10", "iteration: 10", ("--env", "tot"), "file-has-problems"),
        ("", "", ("--env", "gone"), "suite-name-unknown"),
        ("", "", ("--env", "tot", "--kernel", "gone"), "suite-name-unknown"),
        ("", "", ("--env", "tot", "--file", "gone.yaml"), "file-not-readable"),
        ("", "", ("--env", "tot", "--out", "there"), "suite-results-exist"),
        ("checkouts: {kernels: .}", "checkouts: {kernels: /}", ("--env", "tot"), "suite-checkout-missing"),
        ("venv/bin/python", "gone/bin/python", ("--env", "golden"), "interpreter-missing"),
    ],
)
def test_refusals(repository: Foreign, old: str, new: str, words: tuple[str, ...], code: str) -> None:
    repository.write("there/tot.csv", "")
    repository.write("suite.yaml", (repository.root / "suite.yaml").read_text().replace(old, new))
    answer = repository.expctl("suite", "run", *words)
    assert (printed_code(answer.err), answer.status) == (code, 2 if code == "suite-name-unknown" else 1)
    assert not (repository.root / "results").exists()
