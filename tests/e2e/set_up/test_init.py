"""`expctl init` and `expctl harness check`, each kind of kernel that needs no GPU: from nothing to a NO-OP."""

import sys
from pathlib import Path

import pytest

from tests.e2e.foreign import Foreign

KINDS = ["c", "python", "torch"]
EDITS = {
    "c": ("src/dot.c", "    double sum", "    /* twice */ double sum"),
    "python": ("src/softmax.py", "    powers", "    # e\n    powers"),
}


@pytest.fixture
def empty(tmp_path: Path) -> Foreign:
    (tmp_path / "repository").mkdir()
    for beside in ("home", "locks"):
        (tmp_path / beside).mkdir()
    made = Foreign.at(tmp_path / "repository")
    made.git("init", "-q", "-b", "main")
    made.git("commit", "-q", "--allow-empty", "-m", "nothing")
    return made


@pytest.mark.parametrize("kind", KINDS)
def test_a_sample_passes_and_a_comment_is_a_no_op(empty: Foreign, kind: str) -> None:
    if kind == "torch":
        pytest.importorskip("torch", reason="torch is not installed")
    head = empty.git("rev-parse", "HEAD")
    said = empty.concluded("init", "--kind", kind)
    assert "expctl harness check" in said.out
    checked = empty.expctl("harness", "check", "--json")
    assert checked.status == 0, checked
    assert [each["part"] for each in checked.json()["parts"]] == ["protocol", "build", "test", "benchmark", "profile"]
    assert empty.git("rev-parse", "HEAD") == head
    assert not (empty.root / "experiments").exists()
    assert not (empty.root / ".git/expctl/check").exists()
    if kind in EDITS:
        name, before, after = EDITS[kind]
        quiet(empty)
        empty.commit("expctl")
        file = empty.root / name
        file.write_text(file.read_text().replace(before, after, 1))
        empty.concluded("new", "P1", "--from-diff")
        assert "NO-OP" in empty.concluded("run", "P1").out


def quiet(repository: Foreign) -> None:
    """Let nothing that runs beside the tests block."""
    protocol = repository.root / "protocol.yaml"
    text = protocol.read_text().replace("others_percent: 40", "others_percent: 0")
    protocol.write_text(text.replace('["benchmark_*", "profile_*", rocprofv3, ncu]', '["benchmark_of_nobody*"]'))


def test_what_is_there_stays(empty: Foreign) -> None:
    empty.write("bench/harness.py", "# mine\n")
    assert "kept     bench/harness.py" in empty.concluded("init", "--kind", "c").out
    assert (empty.root / "bench/harness.py").read_text() == "# mine\n"
    again = empty.expctl("init", "--kind", "c")
    assert (again.status, "protocol-exists" in again.err) == (1, True)


def test_a_mistake_is_named_with_its_line(empty: Foreign) -> None:
    empty.concluded("init", "--kind", "python")
    harness = empty.root / "bench/harness.py"
    text = harness.read_text()
    for wrong, line in (
        (text.replace("rows=512:", "rows=5:").replace('"rows=512"', '"rows=5"'), "bench/harness.py:8, in sizes"),
        (text.replace("return build", "return bild"), "bench/harness.py:14, in call"),
        (text.replace("def call(", "def call(("), "bench/harness.py:13"),
    ):
        harness.write_text(wrong)
        ended = empty.expctl("harness", "check")
        assert ended.status == 1
        assert f"where     {line}" in ended.err, ended.err
    harness.write_text(text)
    protocol = empty.root / "protocol.yaml"
    protocol.write_text(protocol.read_text().replace("bench/harness.py", "bench/other.py"))
    ended = empty.expctl("harness", "check")
    assert "bench/other.py, which protocol.yaml has as argv" in ended.err


def test_another_python_finds_the_harness_library(empty: Foreign) -> None:
    link = empty.root / "own/bin/python"
    link.parent.mkdir(parents=True)
    link.symlink_to(sys.executable)
    empty.concluded("init", "--kind", "c")
    protocol = empty.root / "protocol.yaml"
    protocol.write_text(protocol.read_text().replace("  set: {OMP", "  python: own/bin/python\n  set: {OMP"))
    ended = empty.expctl("harness", "check")
    assert "ModuleNotFoundError" not in ended.err
    assert "no numpy for" in ended.err or ended.status == 0, ended


def test_own_tests_run_on_the_build(empty: Foreign) -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")
    empty.write("fast/__init__.py", "")
    empty.write("fast/ops.py", "import numpy as np\n\n\ndef double(x):\n    return 2 * x\n")
    empty.write(
        "tests/test_ops.py", "import fast.ops\n\n\ndef test_it():\n    assert fast.ops.__file__.endswith('/kernel.py')\n"
    )
    empty.concluded("init")
    harness = empty.root / "bench/harness.py"
    harness.write_text(harness.read_text().replace('raise NotImplementedError("return what double must give")', "return x + x"))
    ended = empty.concluded("harness", "check")
    assert "target here; scope fast/ops.py" in ended.out
    assert "4 cases pass" in ended.out
    empty.write("tests/test_ops.py", "def test_it():\n    raise ValueError('of mine')\n")
    ended = empty.expctl("harness", "check")
    assert (ended.status, "where     tests/test_ops.py:2" in ended.err) == (1, True), ended.err
    assert "ValueError: of mine" in ended.err


def test_a_function_named_like_its_module_stays_a_function(empty: Foreign) -> None:
    pytest.importorskip("numpy", reason="numpy is not installed")
    empty.write("fast/__init__.py", "from .double import double\n")
    empty.write("fast/double.py", "import numpy as np\n\n\ndef double(x):\n    return 2 * x\n")
    empty.write("tests/test_double.py", "from fast import double\n\n\ndef test_it():\n    assert double(2) == 4\n")
    empty.concluded("init", "--source", "fast/double.py")
    harness = empty.root / "bench/harness.py"
    harness.write_text(harness.read_text().replace('raise NotImplementedError("return what double must give")', "return x + x"))
    assert "4 cases pass" in empty.concluded("harness", "check").out


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("--kind", "c", "--source", "src/absent.c"), "source-unfit"),
        (("--kind", "c", "--source", "src"), "source-unfit"),
        (("--kind", "python", "--source", "src/scale.c"), "source-unfit"),
        (("--kind", "c", "--build", "cc 'x"), "build-no-command"),
    ],
)
def test_words_that_don_t_fit_write_nothing(empty: Foreign, words: tuple[str, ...], code: str) -> None:
    empty.write("src/scale.c", "void scale(float *x, long n) { x[0] = n; }\n")
    ended = empty.expctl("init", *words)
    assert (ended.status, f"[{code}]" in ended.err) == (2, True), ended
    assert not (empty.root / "protocol.yaml").exists()
    assert not (empty.root / "bench").exists()


@pytest.mark.parametrize(
    ("name", "text"), [("src/kern.c", "static int one(void) { return 1; }\n"), ("src/kern.py", "import numpy\ndef (\n")]
)
def test_a_source_without_a_function_is_refused_and_no_sample_is_laid_beside_it(empty: Foreign, name: str, text: str) -> None:
    empty.write(name, text)
    ended = empty.expctl("init", "--kind", "python" if name.endswith(".py") else "c", "--source", name)
    assert (ended.status, "[no-kernel-function]" in ended.err) == (2, True), ended
    assert not (empty.root / "protocol.yaml").exists()


def test_a_function_that_a_macro_makes_is_declared_and_of_several_one_is_named(empty: Foreign) -> None:
    empty.write("src/kern.c", "#define NAME(x) x\nlong NAME(sum)(const long *x, long n) { return n ? x[0] : 0; }\n")
    empty.concluded("init", "--source", "src/kern.c", "--function", "long sum(const long *x, long n);")
    assert 'CLibrary(sum="long(const long *x, long n)")' in (empty.root / "bench/harness.py").read_text()
    (empty.root / "protocol.yaml").unlink()
    empty.write("src/kern.c", "void one(float *x, long n) {\n}\nvoid two(float *x, long n) {\n}\n")
    empty.concluded("init", "--source", "src/kern.c", "--function", "two", "--harness", "other")
    assert 'CLibrary(two="void(float *x, long n)")' in (empty.root / "other/harness.py").read_text()
    (empty.root / "protocol.yaml").unlink()
    ended = empty.expctl("init", "--source", "src/kern.c", "--function", "three")
    assert (ended.status, "found     one, two in src/kern.c" in ended.err) == (2, True), ended.err


def test_the_check_builds_and_tests_a_guard_too_and_refuses_one_that_fails_today(empty: Foreign) -> None:
    empty.concluded("init", "--kind", "c")
    protocol = empty.root / "protocol.yaml"
    text = protocol.read_text()
    guard = "targets:\n  beside:\n    build: {toolchain: command, argv: [cp, src/dot.c, '{artifact}'], artifact: dot.txt}\n"
    guard += "    test: {argv: ['{python}', bench/guard.py, '{artifact}'], timeout_s: 20}\n"
    protocol.write_text(text.replace("targets:\n", guard, 1))
    says = "import json, os\nfor event in ({case}{{'event': 'end', 'ok': {ok}}}):\n"
    says += "    os.write(int(os.environ['EXPCTL_RESULT_FD']), json.dumps(event).encode() + b'\\n')\n"
    empty.write("bench/guard.py", says.format(case="{'event': 'case', 'name': 'a', 'ok': True}, ", ok=True))
    assert "1 case passes; it guards" in empty.concluded("harness", "check").out
    empty.write("bench/guard.py", "raise SystemExit('broken of old')\n")
    ended = empty.expctl("harness", "check")
    assert (ended.status, "broken of old" in ended.err, "bench/guard.py" in ended.err) == (1, True, True), ended.err


def test_what_is_to_be_typed_next_is_quoted(empty: Foreign) -> None:
    empty.write("my src/scale.c", "void scale(float *x, long n) { x[0] = n; }\n")
    assert "git add protocol.yaml bench/harness.py 'my src'" in empty.concluded("init", "--kind", "c").out
