"""A repository whose kernel is the name of a variant: the real harness judges it, and `expctl run` decides."""

import shutil
from pathlib import Path

from tests.cheating.variants import MARK, ROOM
from tests.e2e.foreign import Foreign

ROOT = Path(__file__).resolve().parents[2]
PROTOCOL = """\
version: 1
name: a product in C
goal: fewer nanoseconds, honestly
scope: [src]
harness: [bench, kernel/harness, kernel/runtime]
decides: [here]
gate: {{patterns: ["benchmark_beside_the_cheats"], wait_s: 1, quiet_s: 0}}
environment: {{set: {{OMP_NUM_THREADS: "1", OPENBLAS_NUM_THREADS: "1"}}}}
targets:
  here:
    build: {{toolchain: command, argv: ["{{python}}", bench/brand.py, src/variant, "{{artifact}}"]}}
    test:
      argv: ["{{python}}", kernel/harness/test_scaled_mm.py, --target, cpu, --artifact, "{{artifact}}",
             --b-dtype, e5m2, --sizes, "384"]
      timeout_s: 60
    benchmark:
      argv: ["{{python}}", kernel/harness/benchmark_scaled_mm.py, --target, cpu, --artifact, "{{artifact}}"]
      timeout_s: 60
      style: fine
      quads: {quads}
      iterations: 1
      sizes: [{{name: "n=384", weight: 1, flop: 113246208}}]
"""
BRAND = f'''"""python brand.py VARIANT ARTIFACT: the library with that name among its instructions."""

import sys
from pathlib import Path

MARK, ROOM = {MARK!r}, {ROOM}
code = Path(__file__).with_name("variants.so").read_bytes()
at = code.index(MARK)
brand = (MARK + Path(sys.argv[1]).read_text().strip().encode()).ljust(ROOM, b"\\0")
Path(sys.argv[2]).write_bytes(code[:at] + brand + code[at + ROOM :])
'''


def repository(folder: Path, library: Path, *, baseline: str = "plain", quads: int = 10) -> Foreign:
    """Of `baseline`, below `folder`."""
    root = folder / "repository"
    ignored = shutil.ignore_patterns("__pycache__")
    for package in ("kernel/harness", "kernel/runtime"):
        shutil.copytree(ROOT / package, root / package, ignore=ignored)
    shutil.copy(ROOT / "kernel/__init__.py", root / "kernel")
    for beside in ("home", "locks"):
        (folder / beside).mkdir()
    made = Foreign.at(root)
    made.git("init", "-q", "-b", "main")
    made.write("protocol.yaml", PROTOCOL.format(quads=quads))
    made.write("bench/brand.py", BRAND)
    shutil.copy(library, root / "bench/variants.so")
    made.write("src/variant", f"{baseline}\n")
    made.commit("baseline")
    return made


def run(made: Foreign, experiment: str, variant: str) -> dict[str, object]:
    """The record of one variant, proposed and run as a user does."""
    made.queue(experiment, f"{variant}\n", file="src/variant")
    made.concluded("run", experiment)
    return made.record(experiment)
