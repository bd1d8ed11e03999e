"""A machine that seems to have the card: a repository with a hardware target, stand-ins for ROCm's programs on PATH."""

import sys
from pathlib import Path

from tests.e2e.foreign import Foreign

HERE = Path(__file__).parent
COUNTERS = ("SQ_WAVES", "SQ_INSTS_VALU", "SQ_INSTS_SALU", "SQ_INSTS_VMEM", "SQ_INSTS_SMEM", "SQ_INSTS_LDS", "SQ_WAIT_ANY")
PROGRAM = """#!/bin/sh
exec {python} {program} {calls} {mode} "$@"
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
NOTES = """environment:
  writable: ["{calls}"]
"""
TARGET = """  gfx1151:
    requires: {{executables: [hipcc, rocprofv3], devices: ["{card}"], hint: "plug in a Strix Halo"}}
    build: {{toolchain: hipcc, arch: gfx1151, source: src/total.py, artifact: total.py, flags: [-O3]}}
    test: {{argv: ["{{python}}", bench/test.py, "{{artifact}}"], timeout_s: 30}}
    profile:
      counters: [{counters}]
      argv: [rocprofv3, --kernel-trace, --stats, -d, "{{out}}", -o, "{{id}}", --,
             "{{python}}", -u, bench/trace.py, "{{artifact}}"]
      timeout_s: 10
    number_kind: device_time
    benchmark:
      argv: ["{{python}}", bench/benchmark.py, "{{artifact}}"]
      timeout_s: 60
      style: fine
      rounds: 10
      quads: 1
      iterations: 4
      sizes:
        - {{name: "n=8000", weight: 1}}
"""


def with_card(repository: Foreign) -> Foreign:
    """The foreign repository with a hardware target that decides, and a machine that seems to have the card."""
    folder = repository.root.parent
    card, programs = folder / "kfd", folder / "bin"
    card.touch()
    programs.mkdir()
    for name, mode in (("hipcc", "hipcc mode"), ("rocprofv3", "mode"), ("amd-smi", "amd-smi mode")):
        program = HERE / f"{name.replace('-', '_')}_stand_in.py"
        script = PROGRAM.format(python=sys.executable, program=program, calls=folder / "calls", mode=f"'{folder / mode}'")
        (programs / name).write_text(script)
        (programs / name).chmod(0o755)
    repository.environment["PATH"] = f"{programs}:{repository.environment['PATH']}"
    repository.write("bench/trace.py", PROFILE)
    text = (repository.root / "protocol.yaml").read_text().replace("decides: [here]", "decides: [gfx1151, here]")
    target = TARGET.format(card=card, counters=", ".join(COUNTERS))
    (folder / "calls").touch()
    repository.write("protocol.yaml", text + target + NOTES.format(calls=folder / "calls"))
    repository.commit("a hardware target")
    return repository


def calls(repository: Foreign) -> list[str]:
    """What the stand-ins were called with."""
    file = repository.root.parent / "calls"
    return file.read_text().splitlines() if file.exists() else []
