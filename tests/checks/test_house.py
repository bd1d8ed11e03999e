"""The shape of the house: few files a folder, names that don't repeat their folder's, and no import circles.

Each rule is a function of a root folder, so that it can be shown to fail on a tree with a violation planted in it.
"""

import ast
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MOST_IN_A_FOLDER = 35
MOST_ON_A_FLOOR = 12
Rule = Callable[[Path], list[str]]
FLOORS = ("expctl/domain", "expctl/adapters", "expctl/flow")


def python_files(folder: Path) -> list[Path]:
    return [path for path in folder.glob("*.py") if path.name != "__init__.py"]


def crowded_folders(root: Path) -> list[str]:
    """Folders with more Python files directly in them than a reader takes in at a glance."""
    folders = [folder for top in ("expctl", "kernel", "tests", "benchmarks") for folder in (root / top).glob("**/")]
    full = [folder for folder in folders if len(python_files(folder)) > MOST_IN_A_FOLDER]
    full += [root / floor for floor in FLOORS if len(python_files(root / floor)) > MOST_ON_A_FLOOR]
    return sorted(str(folder.relative_to(root)) for folder in full)


def repeated_names(root: Path) -> list[str]:
    """Files of expctl/ and kernel/ whose name says their folder's again: vector/vector_op.py, rules/rule_state.py."""
    files = [path for top in ("expctl", "kernel") for path in (root / top).glob("**/*.py")]
    return sorted(str(path.relative_to(root)) for path in files if _repeats(path.stem, path.parent.name))


def _repeats(stem: str, folder: str) -> bool:
    return stem == folder or stem.startswith((f"{folder}_", f"{folder.removesuffix('s')}_"))


def imports_of(root: Path) -> dict[str, set[str]]:
    """What each module of expctl imports of expctl; imports for type checkers and inside functions count too."""
    files = {".".join(path.relative_to(root).with_suffix("").parts): path for path in (root / "expctl").glob("**/*.py")}
    return {module: set(_imported(path, files)) - {module} for module, path in files.items()}


def _imported(path: Path, files: Mapping[str, Path]) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_bytes())):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        yield from (name for name in names if name in files)


def circle_between_files(root: Path) -> list[str]:
    """The modules of one import circle; empty when there is none."""
    return _circle(imports_of(root))


def circle_between_siblings(root: Path) -> list[str]:
    """The packages or modules of one circle among the children of one package; empty when there is none."""
    siblings: dict[str, set[str]] = defaultdict(set)
    for module, imported in imports_of(root).items():
        for other in imported:
            here, there = _where_they_part(module, other)
            siblings[here].add(there)
    return _circle(siblings)


def _where_they_part(module: str, other: str) -> tuple[str, str]:
    """The children of their nearest common package in which the two modules lie."""
    here, there = module.split("."), other.split(".")
    same = next(at for at, (one, two) in enumerate(zip(here, there, strict=False)) if one != two)
    return ".".join(here[: same + 1]), ".".join(there[: same + 1])


def _circle(graph: Mapping[str, set[str]]) -> list[str]:
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


RULES = (crowded_folders, repeated_names, circle_between_files, circle_between_siblings)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_house_keeps_the_rule(rule: Rule) -> None:
    assert rule(ROOT) == []


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in {"expctl/domain/a.py": "", "expctl/flow/b.py": "import expctl.domain.a", **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


TYPE_ONLY = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from expctl.flow.b import thing"


@pytest.mark.parametrize(
    ("rule", "files", "seen"),
    [
        (crowded_folders, {f"tests/gpu/part{n}.py": "" for n in range(36)}, "tests/gpu"),
        (crowded_folders, {f"expctl/adapters/part{n}.py": "" for n in range(13)}, "expctl/adapters"),
        (repeated_names, {"expctl/domain/protocol/protocol.py": ""}, "expctl/domain/protocol/protocol.py"),
        (repeated_names, {"kernel/vectors/vector_op.py": ""}, "kernel/vectors/vector_op.py"),
        (repeated_names, {"expctl/domain/machine/machine_lock.py": ""}, "expctl/domain/machine/machine_lock.py"),
        (circle_between_files, {"expctl/domain/a.py": TYPE_ONLY}, "expctl.domain.a"),
        (circle_between_files, {"expctl/domain/a.py": "def late():\n    from expctl.flow import b"}, "expctl.flow.b"),
        (circle_between_siblings, {"expctl/domain/c.py": "import expctl.flow.d", "expctl/flow/d.py": ""}, "expctl.flow"),
    ],
)
def test_a_planted_violation_is_seen(rule: Rule, files: dict[str, str], seen: str, tmp_path: Path) -> None:
    assert rule(tree(tmp_path / "sound", {})) == []
    assert seen in rule(tree(tmp_path / "planted", files))


def test_files_without_a_circle_may_lie_in_packages_with_one(tmp_path: Path) -> None:
    planted = tree(tmp_path, {"expctl/domain/c.py": "import expctl.flow.d", "expctl/flow/d.py": ""})
    assert circle_between_files(planted) == []
