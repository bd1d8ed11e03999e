"""Which patches leave a guard unbuilt, by docs/HARNESS.md, "test": real preprocessing by `zig cc`, counted builds.

A patch that could change the build must be built; one whose preprocessed source is the baseline's is not.
"""

from collections.abc import Callable, Mapping
from itertools import count
from pathlib import Path

import pytest

from expctl.adapters.steps.builder import Builder
from expctl.adapters.steps.preprocessed import flags_tell_all, source_hash
from expctl.domain.experiment.record import Artifact, Fact
from expctl.domain.protocol.model import Build, Environment, Target, Toolchain
from expctl.targets.cpu import ZigCpuRecipe

Files = Mapping[str, str]
Guard = Callable[..., bool]


class CountedRecipe(ZigCpuRecipe):
    """Preprocesses as the recipe does; a build is a file, and is counted."""

    def __init__(self) -> None:
        self.builds = 0

    def commands(self, build: Build, *, out: Path, **_: object) -> tuple[tuple[str, ...], ...]:
        self.builds += 1
        return (("{python}", "-c", "import sys; open(sys.argv[1], 'w')", str(out / build.artifact)),)

    def describe(self, artifact: Path) -> tuple[str, tuple[Fact, ...]]:
        return artifact.name, ()


@pytest.fixture(scope="module")
def guard(tmp_path_factory: pytest.TempPathFactory) -> Guard:
    """Is the guard built for the files `after`, where its baseline has the files `before`? k.cpp is what is compiled."""
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    root, numbers, recipe = tmp_path_factory.mktemp("guard"), count(), CountedRecipe()
    environment = Environment()
    builder = Builder({Toolchain.ZIG_CPU: recipe}, state=root / "state", environment=environment, mark="m", machine="m")
    baselines: dict[object, Artifact] = {}

    def made(files: Files, flags: tuple[str, ...], like: Artifact | None) -> Artifact:
        tree = root / f"tree{next(numbers)}"
        for name, text in files.items():
            (tree / name).parent.mkdir(parents=True, exist_ok=True)
            (tree / name).write_text(text)
        build = Build(toolchain=Toolchain.ZIG_CPU, source="k.cpp", flags=flags, artifact="k.so")
        found = builder.build("guard", Target(build=build), tree=tree, sources=tree.name, like=like)
        assert isinstance(found, Artifact), found
        return found

    def is_built(before: Files, after: Files, flags: tuple[str, ...] = ("-O3",), new_flags: tuple[str, ...] = ()) -> bool:
        key = (tuple(sorted(before.items())), flags)
        if key not in baselines:
            baselines[key] = made(before, flags, None)
        builds = recipe.builds
        made({**before, **after}, new_flags or flags, baselines[key])
        return recipe.builds > builds

    return is_built


KERNEL = """\
#include "a.h"
#include "b.h"
#define WIDTH 4
#define CHECK(x) ((x) ? 0 : fail(__LINE__))
extern "C" int kernel(int n) {
    const char *text = "/* no comment */ // nor this";
    int sum = 0;
    for (int i = 0; i < n * WIDTH; ++i) {
        sum += table(i) + text[i & 7];
    }
    return sum;
}
"""
A_H = "#pragma once\ninline int table(int i) { return i * 3; }\n"
B_H = "#pragma once\n#define DEPTH 2\nint fail(int line);\n"
BASE = {"k.cpp": KERNEL, "a.h": A_H, "b.h": B_H, "c.h": "int unused;\n", "notes/readme.h": "nothing\n"}


def kernel(old: str, new: str) -> Files:
    assert old in KERNEL
    return {"k.cpp": KERNEL.replace(old, new, 1)}


SAME: dict[str, Files] = {
    "nothing": {},
    "a line of comment": kernel("    int sum", "    // the sum\n    int sum"),
    "a comment in several lines": kernel("#define WIDTH", "/* of\n the\n kernel */\n#define WIDTH"),
    "a comment between tokens": kernel("int sum = 0", "int /* of all */ sum = 0"),
    "indents": kernel("    int sum", "\tint sum"),
    "blank lines": kernel("    int sum", "\n\n\n    int sum"),
    "blanks at an end": kernel("int sum = 0;", "int sum = 0;   "),
    "an unused macro renamed": {"b.h": B_H.replace("DEPTH", "HEIGHT")},
    "an unused macro with another value": {"b.h": B_H.replace("DEPTH 2", "DEPTH 3")},
    "a macro spelled otherwise": kernel("#define WIDTH 4", "#define FOUR 4\n#define WIDTH FOUR"),
    "a branch that is never taken": kernel("#define WIDTH", "#if 0\nnonsense\n#endif\n#define WIDTH"),
    "a header that nobody includes": {"c.h": "int used;\n"},
    "a file beside it": {"notes/readme.h": "something\n"},
    "a header included twice": kernel('#include "b.h"', '#include "b.h"\n#include "a.h"'),
    "a header of macros alone": {**kernel('#include "a.h"', '#include "m.h"\n#include "a.h"'), "m.h": "#define M 1\n"},
    "a macro over two lines": kernel("#define WIDTH 4", "#define WIDTH \\\n    4"),
    "lines moved that no macro names": {"a.h": "// more\n\n" + A_H},
}
OTHER: dict[str, Files] = {
    "a constant": kernel("#define WIDTH 4", "#define WIDTH 5"),
    "a comment marker in a string": kernel("nor this", "nor that"),
    "what looks like a comment in a string": kernel("/* no comment */", "/* a comment */"),
    "blanks in a string": kernel("/* no comment */ //", "/* no comment */  //"),
    "a tab in a string": kernel("nor this", "nor\\tthis"),
    "another header": {"a.h": A_H.replace("* 3", "* 5")},
    "headers in another order": kernel('#include "a.h"\n#include "b.h"', '#include "b.h"\n#include "a.h"'),
    "a pragma for a loop": kernel("    for", "#pragma clang loop unroll_count(2)\n    for"),
    "a pragma by an operator": kernel("    for", '    _Pragma("clang loop unroll(disable)")\n    for'),
    "optimisation switched off": kernel('extern "C"', '#pragma clang optimize off\nextern "C"'),
    "an attribute": kernel('extern "C" int', 'extern "C" __attribute__((noinline)) int'),
    "the line of a check": kernel("    return sum;", "    return sum + CHECK(n);"),
    "a comment that goes on over a statement": kernel("{\n        sum", "{  // \\\n        sum"),
    "a string over two lines": kernel("nor this", "nor \\\n  this"),
}


@pytest.mark.parametrize("name", SAME)
def test_a_patch_that_leaves_the_preprocessed_source_alone_is_not_built(name: str, guard: Guard) -> None:
    assert not guard(BASE, SAME[name])


@pytest.mark.parametrize("name", OTHER)
def test_a_patch_that_could_change_the_build_is_built(name: str, guard: Guard) -> None:
    assert guard(BASE, OTHER[name])


def pair(before: str, after: str, **more: str) -> tuple[Files, Files]:
    """k.cpp before and after; of `more`, name by name, a file that changes from its first to its second line."""
    lines = {name.replace("_", "."): text.split("\n") for name, text in more.items()}
    old, new = ({name: text[side] for name, text in lines.items()} for side in (0, 1))
    return {"k.cpp": before, **old}, {"k.cpp": after, **new}


def same(text: str, **more: str) -> tuple[Files, Files]:
    return pair(text, text, **more)


ASSERTED = "#undef NDEBUG\n#include <assert.h>\nvoid f(int n) { assert(n > 0); }\n"
ASKED = '#if __has_include("x.h")\nint n;\n#endif\nint m;'
EMBEDDED = 'const unsigned char data[] = {\n#embed "t.bin"\n};\n'
NAMED = "const char *n = __FILE__;"
POSITIONS: dict[str, tuple[Files, Files]] = {
    "assert() further down": pair(ASSERTED, "\n" + ASSERTED),
    "__LINE__ further down": pair("int f() { return __LINE__; }", "\nint f() { return __LINE__; }"),
    "__LINE__ by #line": pair("#line 7\nint n = __LINE__;", "#line 8\nint n = __LINE__;"),
    "__FILE__ by #line": pair('#line 7 "a"\nconst char *n = __FILE__;', '#line 7 "b"\nconst char *n = __FILE__;'),
    "__FILE__ in another file": pair('#include "x.h"', '#include "y.h"', x_h=NAMED + "\n", y_h="\n" + NAMED),
    "one more __COUNTER__": pair("int n = __COUNTER__;", "#if __COUNTER__\n#endif\nint n = __COUNTER__;"),
    "a comment, with __builtin_LINE": pair("int n = __builtin_LINE();", "//\nint n = __builtin_LINE();"),
    "an indent, with __builtin_COLUMN": pair("int n = __builtin_COLUMN();", "  int n = __builtin_COLUMN();"),
    "nothing, with __builtin_FILE": same("const char *n = __builtin_FILE();"),
    "nothing, with __TIME__": same("const char *n = __TIME__;"),
    "nothing, with __DATE__": same("const char *n = __DATE__;"),
    "nothing, with __TIMESTAMP__": same("const char *n = __TIMESTAMP__;"),
    "an embedded file": same(EMBEDDED, t_bin="ab\ncd"),
    "a file of .incbin": same('asm(".incbin \\"t.bin\\"");', t_bin="ab\ncd"),
    "a file of .include": same('asm(".include \\"t.s\\"");', t_s="nop\nret"),
    "a header that is asked for": ({"k.cpp": ASKED}, {"x.h": ""}),
    "a header before another": ({"k.cpp": '#include "x.h"', "inc/x.h": "int n;"}, {"x.h": "int m;"}),
    "the indent in a raw string": pair('auto s = R"(a\n  b)";', 'auto s = R"(a\n b)";'),
    "the indent in a raw string of wide letters": pair('auto s = LR"x(a\n  b)x";', 'auto s = LR"x(a\n b)x";'),
    "a blank line in a raw string": pair('auto s = u8R"(a\n\nb)";', 'auto s = u8R"(a\nb)";'),
    "the end of a line in a raw string": pair('auto s = R"(a \nb)";', 'auto s = R"(a\nb)";'),
    "the indent in a string over two lines": pair('auto s = "a\\\n  b";', 'auto s = "a\\\n b";'),
    "what a macro makes a string of": pair("#define S(x) #x\nauto s = S(a b);", "#define S(x) #x\nauto s = S(a  c);"),
}  # fmt: skip


@pytest.mark.parametrize("name", POSITIONS)
def test_what_depends_on_a_place_a_time_or_another_file_is_built(name: str, guard: Guard) -> None:
    assert guard(*POSITIONS[name], ("-O3", "-Iinc"))


@pytest.mark.parametrize("flags", [("-O2",), ("-O3", "-DUNUSED"), ("-O3", "-ffast-math"), ("-O3", "-gline-tables-only")])
def test_other_flags_in_the_protocol_are_built(flags: tuple[str, ...], guard: Guard) -> None:
    assert guard(BASE, {}, ("-O3",), flags)


@pytest.mark.parametrize(("text", "built"), [("\n" + KERNEL, False), ("// \\\n" + KERNEL, True)])
def test_line_tables_are_no_code(text: str, built: bool, guard: Guard) -> None:
    """A shift of lines changes debug information alone; what a comment swallows is another matter."""
    assert guard(BASE, {"k.cpp": text}, ("-O3", "-gline-tables-only")) is built


FILE_FLAGS = """-fprofile-instr-use=table -fprofile-sample-use=table -fprofile-list=table -fsanitize-ignorelist=table
-fplugin=table -fsanitize-coverage-allowlist=table -fxray-attr-list=table -fmodule-file=table
-fmodule-map-file=table -fpass-plugin=table --config=table -specs=table -Ttable -Wl,--version-script=table
-Wa,-Itable -fbasic-block-sections=list=table -fcoverage-mapping -fthinlto-index=table
-fmemory-profile-use=table -fauto-profile=table --coverage -frandomize-layout-seed-file=table -Xlinker
-Xassembler -load -fmodules -include-pch -fuse-ld=table -CC -Og -O0"""


@pytest.mark.parametrize("flag", FILE_FLAGS.split())
def test_options_that_may_read_a_file_or_keep_a_place_are_not_trusted(flag: str, tmp_path: Path) -> None:
    (tmp_path / "table").touch()
    assert flags_tell_all(("-O3",), tmp_path)
    assert not flags_tell_all(("-O3", flag), tmp_path)


@pytest.mark.parametrize(
    "text",
    [
        *(
            b'asm(".byte 144");',
            b'asm volatile(".align 16\\n");',
            b'__asm__(".macro m\\n.endm");',
            b'asm goto(".long %l0" :::: x);',
        ),
        *(
            b'asm inline("\\t.p2align 4");',
            b"const int n = std::source_location::current().line() + __builtin_source_location();",
        ),
        *(b"#embed </dev/zero> limit(4)", b"auto n = __builtin_FILE_NAME();", b'asm(R"x(nop)x");', b"asm(LINES);"),
    ],
)
def test_texts_that_do_not_tell_all(text: bytes) -> None:
    assert source_hash(("cc",), b"int f();\n") != ""
    assert source_hash(("cc",), b"int f();\n" + text + b"\n") == ""
