"""What the pages name exists: paths, modules and relative links."""

import re
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOPS = ("expctl", "kernel", "tests", "benchmarks", "docs")
PAGES = ("README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md")
# A path in running text: `docs/GATE.md`, expctl/domain/patch/policy.py; not a part of .git/expctl/journal.
PATH = re.compile(rf"(?<![\w./])(?:{'|'.join(TOPS)})/[\w./-]*")
QUOTED = re.compile(r"`([\w./-]+)(?:: [^`]*)?`")  # `domain/patch/policy.py: tree_faults` too
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
# Names in examples of what a user's or a candidate's own files are called, and commands of the protocol.
EXAMPLES = {"conftest.py", "sitecustomize.py", "benchmark_foreign.py"}
BRANCHES = {"expctl/main", "expctl/BRANCH"}


def pages(root: Path) -> list[Path]:
    found = [root / page for page in PAGES if (root / page).exists()]
    return [*found, *sorted((root / "docs").glob("**/*.md"))]


def missing(root: Path) -> list[str]:
    """`PAGE: NAME` for every path, module or link of a page that leads nowhere."""
    return [f"{page.relative_to(root)}: {name}" for page in pages(root) for name in _missing_of(page, root)]


def _missing_of(page: Path, root: Path) -> Iterator[str]:
    text = page.read_text()
    for name in sorted({match.rstrip(".") for match in PATH.findall(text)}):
        if not (root / name).exists() and name not in BRANCHES:
            yield name
    for name in sorted(set(QUOTED.findall(text))):
        if _is_ours(name, root) and not (root / name).exists() and not (root / "expctl" / name).exists():
            yield name
    for target in sorted(set(LINK.findall(text))):
        if "://" not in target and not (page.parent / target.partition("#")[0]).exists():
            yield target


def _is_ours(name: str, root: Path) -> bool:
    """A path below a room of expctl/, or the bare name of a module that lies nowhere."""
    first, slash, _ = name.partition("/")
    if slash:
        return (root / "expctl" / first).is_dir()
    return name.endswith(".py") and name not in EXAMPLES and name not in _modules(root)


@cache
def _modules(root: Path) -> frozenset[str]:
    return frozenset(path.name for top in TOPS for path in (root / top).glob("**/*.py"))


def test_the_pages_name_what_exists() -> None:
    assert missing(ROOT) == []


SOUND = {
    "README.md": "`expctl/domain/a.py`, `domain/a.py`, `a.py`, .git/expctl/journal, [map](docs/MAP.md#top), `and/or`",
    "docs/MAP.md": "[home](../README.md) expctl/domain/, https://example.org/docs/x.md",
    "expctl/domain/a.py": "",
}


def tree(root: Path, files: Mapping[str, str]) -> Path:
    for name, text in {**SOUND, **files}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


@pytest.mark.parametrize(
    ("text", "seen"),
    [
        ("see expctl/domain/gone.py.", "expctl/domain/gone.py"),
        ("see `domain/gone.py`", "domain/gone.py"),
        ("see `domain/gone.py: decide`", "domain/gone.py"),
        ("see `domain/gone/`", "domain/gone/"),
        ("see `gone.py`", "gone.py"),
        ("see [gone](GONE.md)", "GONE.md"),
        ("see [gone](decisions/001-gone.md#why)", "decisions/001-gone.md#why"),
    ],
)
def test_what_leads_nowhere_is_named(text: str, seen: str, tmp_path: Path) -> None:
    assert missing(tree(tmp_path / "sound", {})) == []
    assert missing(tree(tmp_path / "planted", {"docs/deep.md": text})) == [f"docs/deep.md: {seen}"]
