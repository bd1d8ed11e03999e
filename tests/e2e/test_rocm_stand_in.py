"""The hardware target, driven through stand-ins for hipcc and rocprofv3 on PATH and a file that stands for the card."""

import re
import shutil
import sys
from pathlib import Path

import pytest
from foreign import FASTER, SLOWER, WRONG, Foreign, errors_in

HIPCC = """#!{python}
import shutil, sys
if "--version" in sys.argv:
    print("HIP version: 7.1.0-stand-in")
else:
    with open("{calls}", "a") as calls:
        calls.write("hipcc " + " ".join(sys.argv[1:-1]) + "\\n")
    source = next(word for word in sys.argv if word.endswith(".py") and not word.startswith("/"))
    compile(open(source).read(), source, "exec")
    shutil.copy(source, sys.argv[-1])
"""
ROCPROFV3 = """#!{python}
import os, pathlib, subprocess, sys
with open("{calls}", "a") as calls:
    calls.write("rocprofv3 " + " ".join(sys.argv[1:]) + "\\n")
split = sys.argv.index("--")
own, command = sys.argv[1:split], sys.argv[split + 1:]
if os.path.exists("{crash}"):
    print("rocprofv3: ROCPROFILER_STATUS_ERROR", file=sys.stderr)
    os.abort()
out = pathlib.Path(own[own.index("-d") + 1], own[own.index("-o") + 1] + "_kernel_stats.csv")
out.write_text('"Name","Calls","TotalDurationNs"\\n"total",3,1200\\n')
fd = int(os.environ["EXPCTL_RESULT_FD"])
sys.exit(subprocess.run(command, pass_fds=(fd,)).returncode)
"""
PROFILE = """import json
import os
import sys

from load import load

load(sys.argv[1])(range(10))
lines = [
    dict(event="fact", name="bytes of code", value=os.path.getsize(sys.argv[1]), unit="B", kind="static"),
    dict(event="end", ok=True),
]
os.write(int(os.environ["EXPCTL_RESULT_FD"]), "".join(json.dumps(line) + "\\n" for line in lines).encode())
"""
TARGET = """  gfx1151:
    requires: {{executables: [hipcc, rocprofv3], devices: ["{card}"], hint: "plug in a Strix Halo"}}
    build: {{toolchain: hipcc, arch: gfx1151, source: src/total.py, artifact: total.py, flags: [-O3]}}
    test: {{argv: ["{{python}}", bench/test.py, "{{artifact}}"], timeout_s: 30}}
    profile:
      argv: [rocprofv3, --kernel-trace, --stats, -d, "{{out}}", -o, "{{id}}", --,
             "{{python}}", -u, bench/trace.py, "{{artifact}}"]
      timeout_s: 30
    number_kind: device_time
    benchmark:
      argv: ["{{python}}", bench/benchmark.py, "{{artifact}}"]
      timeout_s: 60
      style: launch
      rounds: 10
      iterations: 4
      sizes:
        - {{name: "n=8000", weight: 1}}
"""


@pytest.fixture
def rocm(repository: Foreign, tmp_path: Path) -> Foreign:
    """The foreign repository with a hardware target that decides, and a machine that seems to have the card."""
    card, programs = tmp_path / "kfd", tmp_path / "bin"
    card.touch()
    programs.mkdir()
    for name, text in (("hipcc", HIPCC), ("rocprofv3", ROCPROFV3)):
        script = text.format(python=sys.executable, calls=tmp_path / "calls", crash=tmp_path / "crash")
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    repository.environment["PATH"] = f"{programs}:{repository.environment['PATH']}"
    repository.write("bench/trace.py", PROFILE)
    text = (repository.root / "protocol.yaml").read_text().replace("decides: [here]", "decides: [gfx1151, here]")
    repository.write("protocol.yaml", text + TARGET.format(card=card))
    repository.commit("a hardware target")
    return repository


def calls(repository: Foreign) -> list[str]:
    """What the stand-ins were called with."""
    file = repository.root.parent / "calls"
    return file.read_text().splitlines() if file.exists() else []


def traces(repository: Foreign) -> list[str]:
    return [call for call in calls(repository) if call.startswith("rocprofv3 --kernel-trace --stats -d ")]


def test_success(rocm: Foreign) -> None:
    rocm.queue("P1", FASTER)
    said = rocm.concluded("run", "P1").out
    record = rocm.record("P1")
    assert (record["verdict"], record["target"], record["number_kind"]) == ("KEEP", "gfx1151", "device_time")
    assert "target gfx1151" in said
    assert any(call.startswith("hipcc --offload-arch=gfx1151 ") and " -O3 " in call for call in calls(rocm))
    assert len(traces(rocm)) == 2
    assert all(re.search(r" -o P1 -- \S*python\S* -u bench/trace.py ", call) for call in traces(rocm))
    assert any("bytes of code" in change for change in record["profile"])
    assert "7.1.0-stand-in" in str(record["environment"])
    assert rocm.git("ls-files", "experiments/P1/profile.json")
    rocm.check_nothing_is_left()


def test_failing_test(rocm: Foreign) -> None:
    rocm.queue("P1", WRONG)
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["target"], record.get("estimates")) == ("REJECT", "gfx1151", None)
    assert traces(rocm) == []
    rocm.check_nothing_is_left()


def test_regression_is_not_profiled(rocm: Foreign) -> None:
    rocm.queue("P1", SLOWER)
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["target"]) == ("REJECT", "gfx1151")
    assert record["estimates"]
    assert traces(rocm) == []
    rocm.check_nothing_is_left()


def test_crash_of_the_profiler_is_a_note(rocm: Foreign, tmp_path: Path) -> None:
    (tmp_path / "crash").touch()
    rocm.queue("P1", FASTER)
    said = rocm.concluded("run", "P1").out
    record = rocm.record("P1")
    assert record["verdict"] == "KEEP"
    noted = "\n".join([*record.get("profile", []), *record.get("notes", [])])
    assert "SIGABRT" in noted
    assert "ROCPROFILER_STATUS_ERROR" in noted
    assert "SIGABRT" in said
    rocm.check_nothing_is_left()


def test_missing_card_and_nothing_else_decides(rocm: Foreign, tmp_path: Path) -> None:
    rocm.edit_protocol("decides: [gfx1151, here]", "decides: [gfx1151]")
    rocm.queue("P1", FASTER)
    (tmp_path / "kfd").unlink()
    before = rocm.snapshot()
    answer = rocm.expctl("run", "P1")
    assert answer.status == 1
    assert len(errors_in(answer.err)) == 1
    assert f"gfx1151: unavailable: no device {tmp_path / 'kfd'}" in answer.err
    assert re.search(r"^  next +plug in a Strix Halo$", answer.err, re.MULTILINE)
    assert rocm.snapshot() == before


def test_missing_card_and_another_target_decides(rocm: Foreign, tmp_path: Path) -> None:
    rocm.queue("P1", FASTER)
    (tmp_path / "kfd").unlink()
    rocm.concluded("run", "P1")
    record = rocm.record("P1")
    assert (record["verdict"], record["target"]) == ("KEEP", "here")
    assert any("gfx1151: unavailable: no device" in note for note in record["notes"])
    refused = rocm.expctl("run", "P1", "--target", "gfx1151")
    assert (refused.status, len(errors_in(refused.err))) == (1, 1)


def test_missing_program(rocm: Foreign, tmp_path: Path) -> None:
    rocm.queue("P1", FASTER)
    (tmp_path / "bin" / "rocprofv3").unlink()
    assert shutil.which("rocprofv3", path=rocm.environment["PATH"]) is None
    answer = rocm.expctl("run", "P1", "--target", "gfx1151")
    assert answer.status == 1
    assert "no rocprofv3 on PATH" in answer.err
