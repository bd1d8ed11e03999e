"""A patch may change a file that only the compiler sees: then the build changes, whatever the compiler keeps in its cache."""

from collections.abc import Callable, Mapping
from itertools import count

import pytest

from expctl.adapters.steps.builder import Builder
from expctl.domain.experiment.record import Artifact
from expctl.domain.protocol.model import Benchmark, Build, Environment, Target, Toolchain
from expctl.ports.measuring import Recipe
from expctl.targets.command import CommandRecipe
from expctl.targets.cpu import ZigCpuRecipe

Files = Mapping[str, str]
Code = Callable[[Files, Build, int], str]

ZIG = Build(toolchain=Toolchain.ZIG_CPU, source="k.cpp", flags=("-O3",), artifact="k.so")
COMMAND = Build(
    toolchain=Toolchain.COMMAND,
    argv=("{python}", "-m", "ziglang", "cc", "-shared", "-O2", "k.cpp", "-o", "{artifact}"),
    artifact="k.so",
)
EMBEDS = 'extern "C" const unsigned char table[];\nconst unsigned char table[] = {\n#embed "t.bin"\n};\n'
PLACES = 'asm(".data\\n.globl table\\ntable:\\n.incbin \\"t.bin\\"\\n.text");\nextern "C" int f() { return 1; }\n'
ASKS = 'extern "C" int f() {\n#if __has_include("x.h")\n  return 7;\n#else\n  return 8;\n#endif\n}\n'
CASES: dict[str, tuple[Files, Files]] = {
    "an embedded file": ({"k.cpp": EMBEDS, "t.bin": "ab"}, {"t.bin": "cd"}),
    "a file of .incbin": ({"k.cpp": PLACES, "t.bin": "ab"}, {"t.bin": "cd"}),
    "a header that is asked for": ({"k.cpp": ASKS}, {"x.h": ""}),
    "a header": ({"k.cpp": '#include "x.h"\nextern "C" int f() { return X; }', "x.h": "#define X 1"}, {"x.h": "#define X 2"}),
}


@pytest.fixture(scope="module")
def code(tmp_path_factory: pytest.TempPathFactory) -> Code:
    """The hash of the code that is built of these files, by one builder."""
    pytest.importorskip("ziglang", reason="the ziglang wheel (extra `cpu`) is not installed")
    root, numbers = tmp_path_factory.mktemp("cache"), count()
    recipes: dict[Toolchain, Recipe] = {Toolchain.ZIG_CPU: ZigCpuRecipe(), Toolchain.COMMAND: CommandRecipe()}
    builder = Builder(recipes, state=root / "state", environment=Environment(), mark="m", machine="m")

    def built(files: Files, build: Build, layouts: int) -> str:
        tree = root / f"tree{next(numbers)}"
        tree.mkdir()
        for name, text in files.items():
            (tree / name).write_text(text)
        target = Target(build=build, benchmark=Benchmark(argv=("-",), timeout_s=1, sizes=(), layouts=layouts))
        made = builder.build("cpu", target, tree=tree, sources=tree.name)
        assert isinstance(made, Artifact), made
        return made.code

    return built


@pytest.mark.parametrize(("build", "layouts"), [(ZIG, 1), (COMMAND, 1)], ids=["zig-cpu", "a command"])
@pytest.mark.parametrize("name", CASES)
def test_a_file_that_changed_changes_the_code(name: str, build: Build, layouts: int, code: Code) -> None:
    before, changed = CASES[name]
    assert code(before, build, layouts) != code({**before, **changed}, build, layouts)
