"""Mistakes of a harness or protocol: `expctl harness check` names the line to mend, and leaves nothing behind.

Written from the text of the manual by somebody who had not read the code that finds them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.e2e.foreign import Answer, Foreign

HARNESS = '''"""Judges axpy."""

import numpy as np

from expctl.harness import Kernel, serve


class Axpy(Kernel):
    sizes = {"n=4096": dict(n=4096), "n=1000": dict(n=1000)}

    def inputs(self, rng, n):
        return 2.5, rng.standard_normal(n), rng.standard_normal(n)

    def outputs(self, n):
        return np.empty(n)

    def call(self, build, a, x, y, out):
        build.axpy(a, x, y, out)

    def reference(self, a, x, y):
        return a * x + y


serve(Axpy)
'''
KERNEL = "import numpy as np\n\n\ndef axpy(a, x, y, out):\n    np.multiply(x, a, out=out)\n    out += y\n"
PROTOCOL = """version: 1
name: axpy
goal: fewer nanoseconds
scope: [src]
harness: [bench.py]
decides: [here]
gate: {patterns: ["benchmark_of_nobody*"], wait_s: 1, quiet_s: 0}
targets:
  here:
    build:
      toolchain: command
      argv: [cp, src/axpy.py, "{artifact}"]
      artifact: axpy.py
    test: {argv: ["{python}", bench.py, "{artifact}"], timeout_s: 20}
    benchmark:
      argv: ["{python}", bench.py, "{artifact}"]
      timeout_s: 20
      style: fine
      rounds: 10
      quads: 3
      iterations: 2
      sizes:
        - {name: "n=4096", weight: 0.5}
        - {name: "n=1000", weight: 0.5}
"""
BARE = "|found +line "  # a strict decoder's message names the file apart
FILES = {"bench.py": HARNESS, "src/axpy.py": KERNEL, "protocol.yaml": PROTOCOL}
DRAWN = "rng.standard_normal(n), rng.standard_normal(n)"
CALLED = "        build.axpy(a, x, y, out)\n"


@dataclass(frozen=True)
class Mistake:
    """`old` becomes `new` in `file`; the message names one of `lines` (their text) and says one of `words`."""

    why: str
    old: str
    new: str
    lines: tuple[str, ...]
    words: str
    file: str = "bench.py"


MISTAKES = [
    Mistake("arguments are swapped", CALLED, CALLED.replace("x, y", "y, x"),
            ("build.axpy(a, y, x, out)", "def call", "return a * x + y", "def reference"), r"expected"),
    Mistake("the reference has another shape", "return a * x + y", "return (a * x + y)[:-1]",
            ("return (a * x + y)[:-1]", "def reference", "return np.empty(n)", "def outputs"), r"shape|4095|999"),
    Mistake("the result is never written", CALLED, "        build.axpy(a, x, y, out.copy())\n",
            ("build.axpy(a, x, y, out.copy())", "def call", "return np.empty(n)", "def outputs"), r"writ"),
    Mistake("the call prints to the result channel", CALLED,
            CALLED + '        import os\n        os.write(int(os.environ["EXPCTL_RESULT_FD"]), b"done\\n")\n',
            ('os.write(int(os.environ["EXPCTL_RESULT_FD"]), b"done\\n")', "def call"), r"EXPCTL_RESULT_FD|channel|descriptor"),
    Mistake("the seed is forgotten", f"return 2.5, {DRAWN}",
            "return 2.5, np.random.default_rng().standard_normal(n), np.random.default_rng().standard_normal(n)",
            ("np.random.default_rng().standard_normal(n)", "def inputs"), r"seed|rng"),
    Mistake("inputs are always the same", f"return 2.5, {DRAWN}", "return 2.5, np.ones(n), np.arange(n) * 1.0",
            ("return 2.5, np.ones(n)", "def inputs"), r"same|rng|drawn"),
    Mistake("the reference computes in float16", "return a * x + y",
            "return (np.float16(a) * x.astype(np.float16) + y.astype(np.float16))",
            ("np.float16(a)", "def reference"), r"float16"),
    Mistake("the reference is NaN", "return a * x + y", "return a * x + y * np.nan",
            ("y * np.nan", "def reference"), r"(?i)nan"),
    Mistake("an input is NaN", f"return 2.5, {DRAWN}", f"return float('nan'), {DRAWN}",
            ("float('nan')", "def inputs"), r"(?i)nan"),
    Mistake("a size that the class does not have", '{name: "n=1000"', '{name: "n=5000"',
            ('"n=5000"', "sizes = {"), r"n=5000", "protocol.yaml"),
    Mistake("a call that takes for ever", CALLED, CALLED + "        import time\n        time.sleep(60)\n",
            ("time.sleep(60)", "def call", "timeout_s"), r"20(\.0)? s|timeout|time-out|time"),
    Mistake("a package that is missing", "import numpy as np\n", "import numpy as np\nimport no_such_package\n",
            ("import no_such_package",), r"no_such_package"),
    Mistake("no call", "def call(", "def cal(", ("class Axpy", "def cal("), r"\bcall\b"),
    Mistake("no reference", "def reference(", "def referense(", ("class Axpy", "def referense("), r"\breference\b"),
    Mistake("no sizes", "    sizes = {", "    shapes = {", ("class Axpy", "shapes = {"), r"\bsizes\b"),
    Mistake("sizes are empty", 'sizes = {"n=4096": dict(n=4096), "n=1000": dict(n=1000)}', "sizes = {}",
            ("sizes = {}", "class Axpy", 'name: "n=4096"'), r"sizes|n=4096"),
    Mistake("a size with another word", "dict(n=1000)", "dict(m=1000)",
            ("dict(m=1000)", "def inputs"), r"\bm\b"),
    Mistake("inputs are a dict", f"return 2.5, {DRAWN}", 'return {"a": 2.5, "x": rng.standard_normal(n)}',
            ('return {"a": 2.5', "def inputs"), r"tuple|dict"),
    Mistake("one input too few", f"return 2.5, {DRAWN}", "return 2.5, rng.standard_normal(n)",
            ("return 2.5, rng.standard_normal(n)", "def inputs", "def call", "def reference"), r"argument|inputs|takes|\by\b"),
    Mistake("a function that the build does not have", CALLED, CALLED.replace("axpy", "axpi"),
            ("build.axpi(a, x, y, out)", "def call"), r"axpi"),
    Mistake("a harness that does not parse", "def inputs(self, rng, n):", "def inputs(self, rng, n:",
            ("def inputs(self, rng, n:",), r"(?i)syntax|closed|parse|\("),
    Mistake("the reference changes its inputs", "return a * x + y", "x *= a\n        return x + y",
            ("x *= a", "def reference"), r"chang|read-only|input"),
    Mistake("the call changes its inputs", CALLED, CALLED + "        x[0] = 0\n",
            ("x[0] = 0", "def call"), r"chang|read-only|input"),
    Mistake("the result is cut to integers", "return np.empty(n)", "return np.empty(n, dtype=np.int32)",
            ("dtype=np.int32", "def outputs", "build.axpy(a, x, y, out)", "def call", "axpy.py:5"), r"int32|casting"),
    Mistake("nothing is returned or written", "    def outputs(self, n):\n        return np.empty(n)\n\n", "",
            ("def call", "build.axpy(a, x, y, out)", "class Axpy"), r"out|returns?"),
    Mistake("nobody serves", "serve(Axpy)\n", "", ("serve", "class Axpy", "argv"), r"serve|end"),
    Mistake("too many words in a draw", DRAWN, "rng.standard_normal(n, 1, 2, 3, 4), rng.standard_normal(n)",
            ("rng.standard_normal(n, 1, 2, 3, 4)", "def inputs"), r"standard_normal|argument"),
    Mistake("the call leaves the script", CALLED, CALLED + "        raise SystemExit(0)\n",
            ("raise SystemExit(0)", "def call"), r"SystemExit|left|ended|exit"),
    Mistake("an old result is given again", CALLED,
            "        if not hasattr(self, 'kept'):\n            build.axpy(a, x, y, out)\n            self.kept = out.copy()\n"
            "        out[:] = np.resize(self.kept, out.shape)\n",
            ("np.resize(self.kept", "def call", "build.axpy(a, x, y, out)", "self.kept = out.copy()",
             "if not hasattr(self, 'kept')", "return a * x + y", "def reference"), r"expected"),
    Mistake("a limit in words", "    sizes = {", '    rel_l2 = "1e-6"\n    sizes = {', ('rel_l2 = "1e-6"',), r"rel_l2"),
    Mistake("a limit below zero", "    sizes = {", "    max_abs = -1.0\n    sizes = {", ("max_abs = -1.0",), r"max_abs"),
    Mistake("the script has another name", 'test: {argv: ["{python}", bench.py', 'test: {argv: ["{python}", bensh.py',
            ("bensh.py",), r"bensh\.py", "protocol.yaml"),
    Mistake("a placeholder that does not exist", 'test: {argv: ["{python}", bench.py, "{artifact}"]',
            'test: {argv: ["{python}", bench.py, "{artefact}"]', ("{artefact}",), r"artefact", "protocol.yaml"),
    Mistake("the build makes another file", "artifact: axpy.py", "artifact: axpy.so",
            ("artifact: axpy.so", 'argv: [cp, src/axpy.py, "{artifact}"]', "def call", "class Axpy", "serve(Axpy)"),
            r"axpy\.so|\.so", "protocol.yaml"),
    Mistake("a key that does not exist", "      quads: 3", "      quats: 3", ("quats: 3",), r"quats", "protocol.yaml"),
    Mistake("the harness imports the scope by name", "import numpy as np\n", "import numpy as np\nfrom src import axpi\n",
            ("from src import axpi",), r"axpi|src"),
    Mistake("the reference raises", "return a * x + y", "return a @ x + y",
            ("return a @ x + y", "def reference"), r"matmul|@|dimension|argument"),
]  # fmt: skip


def repository(folder: Path, edit: Callable[[dict[str, str]], object]) -> Foreign:
    """One commit with these files."""
    (folder / "repository").mkdir(parents=True)
    for beside in ("home", "locks"):
        (folder / beside).mkdir()
    made, files = Foreign.at(folder / "repository"), dict(FILES)
    edit(files)
    for name, text in files.items():
        made.write(name, text)
    made.git("init", "-q", "-b", "main")
    made.commit("mine")
    return made


def planted(mistake: Mistake) -> Callable[[dict[str, str]], None]:
    def edit(files: dict[str, str]) -> None:
        assert files[mistake.file].count(mistake.old) == 1, mistake.why
        files[mistake.file] = files[mistake.file].replace(mistake.old, mistake.new)

    return edit


def named_lines(answer: Answer, made: Foreign) -> set[str]:
    """The text of each line of the user's files that the message names, and of those that it quotes."""
    said, found = answer.out + answer.err, set[str]()
    for name in FILES:
        lines = (made.root / name).read_text().splitlines()
        for number in re.findall(rf"(?:{re.escape(name)}:{BARE if name == 'protocol.yaml' else ''})(\d+)", said):
            found |= {lines[int(number) - 1].strip(), *innermost(lines[: int(number)])}
    return found | {line.strip() for line in said.splitlines()}


def innermost(lines: list[str]) -> list[str]:
    """The line that begins the function in which the last of `lines` lies."""
    return [line.strip() for line in reversed(lines) if line.startswith(("    def ", "class "))][:1]


def test_the_sound_one_passes(tmp_path: Path) -> None:
    made = repository(tmp_path, dict.copy)
    before = made.snapshot()
    answer = made.expctl("harness", "check")
    assert answer.status == 0, answer
    assert made.snapshot() == before


@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda each: each.why)
def test_a_mistake_is_named_where_it_is_and_leaves_nothing(mistake: Mistake, tmp_path: Path) -> None:
    made = repository(tmp_path, planted(mistake))
    before = made.snapshot()
    answer = made.expctl("harness", "check")
    said = answer.out + answer.err
    assert answer.status in (1, 2), answer
    assert "Traceback" not in said
    assert said.count("\n  expected ") <= 1, "one message"
    assert "expected" in said or "known here: " in said, said
    assert "found" in said, said
    assert re.search(mistake.words, said), said
    named = named_lines(answer, made)
    assert any(wanted in line for wanted in mistake.lines for line in named), (mistake.lines, said)
    assert made.snapshot() == before
    assert made.git("rev-list", "--count", "HEAD") == "1"
