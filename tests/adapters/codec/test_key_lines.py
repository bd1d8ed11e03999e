"""The line of a key in YAML."""

import pytest

from expctl.adapters.codec.key_lines import with_lines

TEXT = """\
name: x
targets:
  a:
    build: {toolchain: command, argv: [cc]}
  b:
    build:
      argv: [cc]
"""


@pytest.mark.parametrize(
    ("problem", "line"),
    [
        ("name: expected text", 1),
        ("targets.a.build.argv: expected a list", 4),
        ("targets.b.build.argv[0]: expected text", 7),
        ("targets.b.build.flags: missing", 6),
        ("targets.b: expected", 5),
    ],
)
def test_the_line_of_a_key_or_of_what_should_hold_it(problem: str, line: int) -> None:
    assert with_lines(problem, TEXT) == f"line {line}: {problem}"


@pytest.mark.parametrize("problem", ["line 3: no anchors", "not YAML at all", "nowhere: unknown"])
def test_what_names_no_key_stays(problem: str) -> None:
    assert with_lines(problem, TEXT) == problem
