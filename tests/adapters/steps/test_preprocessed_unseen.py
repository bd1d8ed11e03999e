"""More patches of a guard, kept from whoever mends it."""

import pytest

from expctl.adapters.steps.preprocessed import flags_tell_all
from tests.adapters.steps.test_preprocessed_cases import BASE, Files, Guard, guard, kernel, pair, same

assert guard  # a fixture

FROM_FOLDERS = ("-O3", "-Iinc", "-Ilib")
PATCHES: dict[str, tuple[Files, Files, bool]] = {
    "a word in a comment of a header": (
        BASE,
        {"a.h": "#pragma once // once\ninline int table(int i) { return i * 3; }\n"},
        False,
    ),
    "a macro without effect": (BASE, kernel("#define WIDTH", "#define NOTHING\n#define WIDTH"), False),
    "a guard of a header instead of once": (BASE, {"b.h": "#ifndef B\n#define B\nint fail(int line);\n#endif\n"}, False),
    "another name of a variable": (BASE, kernel("int sum = 0", "int all = 0"), True),
    "a macro that is used": (BASE, {"b.h": "#pragma once\n#define DEPTH 2\n#define n (n)\nint fail(int line);\n"}, True),
    "a slash more in a string": (BASE, kernel("// nor", "/// nor"), True),
    "a letter by its escape": (BASE, kernel("nor this", "nor thi\\x73"), True),
    "a header of the second folder that gets a namesake": (
        {"k.cpp": "#include <t.h>\nint n = T;", "lib/t.h": "#define T 1\n"},
        {"inc/t.h": "#define T 2\n"},
        True,
    ),
    "a table that is embedded by a macro": (*same('#define TABLE "t.bin"\nchar t[] = {\n#embed TABLE\n};', t_bin="a\nb"), True),
    "an embedded file that is asked for": (
        {"k.cpp": '#if __has_embed("t.bin") == __STDC_EMBED_FOUND__\nint n;\n#endif\nint m;'},
        {"t.bin": "x"},
        True,
    ),
    "a header that goes away": (
        {"k.cpp": '#if __has_include("x.h")\n#include "x.h"\n#endif\nint m;', "x.h": "int n;\n"},
        {"x.h": "\n"},
        True,
    ),
    "a raw string in a macro": (*pair('#define R R"(a\n  b)"\nauto s = R;', '#define R R"(a\n    b)"\nauto s = R;'), True),
    "a blank line between statements": (*pair("int a;\nint b;", "int a;\n\n\n\tint b;"), False),
}


@pytest.mark.parametrize("name", PATCHES)
def test_what_is_built(name: str, guard: Guard) -> None:
    before, after, built = PATCHES[name]
    assert guard(before, after, FROM_FOLDERS) is built


@pytest.mark.parametrize(
    "flags", [("-O3", "-O0"), ("-Oz", "-Og"), ("-O1", "-fplugin-arg-x=table"), ("-O2", "table.o"), ("-O2", "-Wp,@table")]
)
def test_options_that_are_not_trusted(flags: tuple[str, ...], tmp_path) -> None:  # type: ignore[no-untyped-def]
    for name in ("table", "table.o"):
        (tmp_path / name).touch()
    assert not flags_tell_all(flags, tmp_path)
