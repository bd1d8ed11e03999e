"""What agents report of their costs, in the forms in which they do."""

from pathlib import Path

import pytest

from expctl.adapters.proposers.agent_usage import usage_of
from expctl.domain.queue.night import Usage

CLAUDE = '{"type": "result", "total_cost_usd": 0.25, "usage": {"input_tokens": 10, "output_tokens": 5}}'
CODEX = 'thinking\n{"type": "turn.completed", "usage": {"input_tokens": 100, "cached_input_tokens": 9, "output_tokens": 7}}\n'


@pytest.mark.parametrize(
    ("log", "own", "expected"),
    [
        (CLAUDE, "", Usage(tokens=15, money=0.25)),
        (CODEX, "", Usage(tokens=107)),
        (CLAUDE, '{"tokens": 3, "money": 1.5}', Usage(tokens=3, money=1.5)),
        ("no JSON", "", Usage()),
        ('{"tokens": -5, "money": NaN}', '{"tokens": true}', Usage()),
        ("[" * 100_000, "", Usage()),
    ],
    ids=["claude", "codex", "own file", "none", "nonsense", "deep"],
)
def test_costs_are_read(tmp_path: Path, log: str, own: str, expected: Usage) -> None:
    (tmp_path / "log").write_text(log)
    if own:
        (tmp_path / "usage.json").write_text(own)
    assert usage_of(tmp_path, tmp_path / "log") == expected
