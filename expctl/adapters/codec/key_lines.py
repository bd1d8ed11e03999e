"""Find the line of a YAML text that a problem of its decoding is about."""

import re

_KEYS = re.compile(r"(?P<path>[\w.+-]+(?:\[\d+\][\w.+-]*)*): ")


def with_lines(problems: str, text: str) -> str:
    """Return `problems`, one a line and each beginning with the path of a key (`targets.here.build: ...`), with the number of
    that key's line put before it, else of the last key of the path that is there. Other lines stay.
    """
    return "\n".join(_with_line(problem, text.splitlines()) for problem in problems.splitlines())


def _with_line(problem: str, lines: list[str]) -> str:
    path = _KEYS.match(problem)
    if path is None or problem.startswith("line "):
        return problem
    at, found = 0, 0
    for key in re.sub(r"\[\d+\]", "", path["path"]).split("."):
        key_here = re.compile(rf"(?:^|[\s{{,\"']){re.escape(key)}[\"']?\s*:")
        number = next((number for number in range(at, len(lines)) if key_here.search(lines[number])), None)
        if number is None:
            break
        at, found = number, number + 1
    return f"line {found}: {problem}" if found else problem
