"""The code of a harness: what is the same code, what is other code, and what counts as its bytes."""

import pytest

from expctl.domain.history.harness_code import HarnessFile, code_identity, harness_code, python_words

PYTHON = b'''"""Times a kernel."""
import sys
class Timer:
    """Holds what is timed."""
    size = 8192
def draw(seed, count=16):
    """Draw the inputs."""
    # uniform
    return [(seed + 7919 * n) % 1009 for n in range(count)], "-" * 2, f"{seed:>{count}}"
'''
C = """// Times a kernel.
#include <time.h>
#define AREA(x) ((x) * (x))   /* a square */
#ifdef FAST
static const char *name = "a // b", quote = '\\'';
#endif
int run(int n) { int total = 0; for (int i = 0; i < n; ++i) total += AREA(i) >> 2; return total; }
"""
SHELL = """#!/bin/sh
# Times a kernel.
set -e
for size in 8192 4096; do
    ./run --size "$size" # each
    echo 'a # b' "two \\
    lines"
done
"""


def same(path: str, before: str | bytes, after: str | bytes) -> bool:
    def identity(text: str | bytes) -> str:
        return code_identity(HarnessFile(path, "100644", text if isinstance(text, bytes) else text.encode()))

    assert before != after
    return identity(before) == identity(after)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"# uniform", b"# evenly spread"),
        (b"    # uniform\n", b""),
        (b"Draw the inputs.", b"Draw them."),
        (b'"""Times a kernel."""\n', b""),
        (b'    """Holds what is timed."""\n', b""),
        (b"import sys\n", b"\n\nimport sys  # for argv\n\n"),
        (b"    ", b"\t"),
        (b"7919 * n", b"7919*n"),
        (b"range(count)]", b"range(\n  count,\n)]"),
        (b'"-" * 2', b"'-' * 0x2"),
        (b"\n", b"\r\n"),
    ],
)
def test_python_that_does_the_same_is_the_same_code(old: bytes, new: bytes) -> None:
    assert same("run.py", PYTHON, PYTHON.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"7919", b"7907"),
        (b"size = 8192", b"size = 8192.0"),
        (b"size = 8192", b"size = '8192'"),
        (b"count=16", b"*, count=16"),
        (b'"-" * 2', b'b"-" * 2'),
        (b'"-" * 2', b'"- " * 2'),
        (b"{seed:>{count}}", b"{seed!r:>{count}}"),
        (b"{seed:>{count}}", b"{seed:>{count} }"),
        (b"% 1009", b"// 1009"),
        (b"import sys\n", b"import sys\nsys.setrecursionlimit(9)\n"),
        (b"    return", b"    'no docstring'\n    return"),
        (b"class Timer:", b"class Timer(object):"),
    ],
)
def test_python_that_does_something_else_is_other_code(old: bytes, new: bytes) -> None:
    assert not same("run.py", PYTHON, PYTHON.replace(old, new))


@pytest.mark.parametrize("source", [b"def f(:\n", b"x = 1\0\n", b"\xff\xfe", b"(" * 5000 + b")" * 5000])
def test_python_that_does_not_parse_counts_as_its_bytes(source: bytes) -> None:
    assert python_words(source) is None
    assert not same("run.py", source, source + b"# a comment")


def test_a_long_or_a_strange_program_is_read_all_the_same() -> None:
    chain = b"x = " + b" + ".join(b"%d" % n for n in range(400)) + b"\n"
    assert same("run.py", chain, chain + b"# a comment\n")
    assert same("run.py", b"x = 0x" + b"f" * 9000, b"x = (0x" + b"f" * 9000 + b")")
    assert same("run.py", b'x = "\\d"', b'x = ("\\d")'), "a doubtful escape is no fault"
    assert not same("run.py", b'x = "\\ud800"', b'x = "\\ud801"')


def test_the_words_of_a_tree_are_these_in_every_version_of_python() -> None:
    words = "(Module body [ (FunctionDef name 'f' args (arguments ) body [ (Return value (Constant value 0x1 ) ) ) ) ) )"
    assert python_words(b"def f(): 'doc'; return 1") == words.split()


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("// Times a kernel.\n", ""),
        ("// Times a kernel.", "// It's timed. \\\n and more"),
        ("   /* a square */", ""),
        ("#define AREA(x)", "#  define   AREA(x)"),
        ("#define AREA(x)", "#define AREA(x) \\\n"),
        (" { int total", "\n{\n\tint total"),
        ("i < n", "i<n /* all\nof them */"),
        ("total; }\n", "total; }  \n\n"),
    ],
)
def test_c_that_compiles_to_the_same_is_the_same_code(old: str, new: str) -> None:
    assert same("run.cpp", C, C.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (">> 2", "> > 2"),
        (">> 2", ">> 3"),
        ("a // b", "a //  b"),
        ("#define AREA(x)", "#define AREA (x)"),
        ("#ifdef FAST\n", "#ifdef FAST //"),
        ("#include <time.h>\n", ""),
        ("'\\''", "'\"'"),
        ("int total", "long total"),
    ],
)
def test_c_that_compiles_to_something_else_is_other_code(old: str, new: str) -> None:
    assert not same("run.cpp", C, C.replace(old, new))


@pytest.mark.parametrize("odd", ['char c = "open;\n', "int é;\n", 'auto s = R"(a\\\nb)";\n'])
def test_c_that_can_not_be_read_for_sure_counts_as_its_bytes(odd: str) -> None:
    assert not same("run.cpp", odd, odd + "// a comment\n")


def test_raw_strings_and_numbers_hold_quotes_of_their_own() -> None:
    text = "auto s = R\"x(it's // no \" comment)x\"; int n = 1'000'000; // one\n"
    assert same("run.cu", text, text.replace("// one", "// another's"))
    assert not same("run.cu", text, text.replace("no", "a"))


@pytest.mark.parametrize(
    ("old", "new"),
    [("# Times a kernel.\n", "#  It's timed.\n\n"), ("    ./run", "  ./run"), ("set -e\n", "set -e  \n\n")],
)
def test_a_script_that_does_the_same_is_the_same_code(old: str, new: str) -> None:
    assert same("run.sh", SHELL, SHELL.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [("#!/bin/sh", "#!/bin/bash"), ("a # b", "a #  b"), ("4096", "2048"), ("    lines", "  lines"), (" # each", " # all")],
)
def test_a_script_that_does_something_else_is_other_code_and_so_may_be_a_comment_behind_a_command(old: str, new: str) -> None:
    assert not same("run.sh", SHELL, SHELL.replace(old, new))


@pytest.mark.parametrize(
    "unsure",
    [
        "cat <<END\n# text\nEND\n",
        'echo "$(echo "\n# text\n")"\n',
        "echo $'it\\'s\n# text\n'\n",
        "echo ${x:-\n# text\n}\n",
        "echo a\\\n# text\n",
    ],
)
def test_a_script_in_which_a_sign_may_be_no_comment_counts_as_its_bytes(unsure: str) -> None:
    assert not same("run.sh", unsure, unsure.replace("# text", "# another"))


def test_other_files_and_links_count_as_their_bytes() -> None:
    assert not same("inputs.yaml", "a: 1\n", "a: 1  # one\n")
    assert not same("run.sh", b"\xff", b"\xff\n"), "no UTF-8"
    linked = [HarnessFile("run.py", "120000", text) for text in (b"x # y", b"x # z")]
    assert code_identity(linked[0]) != code_identity(linked[1])


def test_a_harness_is_its_files_by_name_in_any_order_executable_or_not() -> None:
    run, load = HarnessFile("b/run.py", "100755", PYTHON), HarnessFile("b/load.py", "100644", b"x = 1\n")
    assert harness_code((run, load)) == harness_code((load, run._replace(mode="100644")))
    assert harness_code((run, load)) != harness_code((run, load._replace(path="b/store.py")))
    assert harness_code((run, load)) != harness_code((run,))
    assert harness_code((run, load)) != harness_code((run, load._replace(mode="120000")))
