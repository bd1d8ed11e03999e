"""What an agent reports of its costs, and the words that it leaves: whatever they are, budgets hold and nobody is fooled."""

import json
from pathlib import Path

import pytest

from tests.e2e.night.strangers.conftest import Night, some

NO_USAGE = {
    "empty": b"",
    "no json": b"{tokens: 5}",
    "a list": b"[5, 6]",
    "a number": b"7",
    "null": b"null",
    "text": b'{"tokens": "5", "money": "a lot"}',
    "negative": b'{"tokens": -1000000, "money": -50}',
    "no number": b'{"tokens": NaN, "money": Infinity}',
    "beyond": b'{"tokens": 1e999, "money": -1e999}',
    "true": b'{"tokens": true, "money": false}',
    "nested": b'{"tokens": {"tokens": [5]}, "money": null}',
    "deep": b"[" * 200_000,
    "digits": b'{"tokens": ' + b"9" * 5000 + b"}",
    "not text": b"\xff\xfe\x00{",
}


def spent(night: Night) -> list[dict[str, object]]:
    """The lines of the account."""
    return [json.loads(line) for line in (night.repository.root / ".git/expctl/night.jsonl").read_text().splitlines()]


@pytest.mark.parametrize("usage", some(NO_USAGE))
def test_a_report_that_means_nothing_earns_nothing(night: Night, usage: str, tmp_path: Path) -> None:
    """The account stays readable JSON with finite figures, none below zero, and the proposal counts as usual."""
    file = tmp_path / "usage"
    file.write_bytes(NO_USAGE[usage])
    night.employ("usage", str(file))
    night.ask(1, "--max-tokens", "100", "--max-money", "5")
    assert night.calls() == 1
    assert night.proposed() == ["P1"]
    for line in spent(night):
        for name in ("tokens", "money"):
            figure = line.get(name, 0) or 0
            assert isinstance(figure, int | float)
            assert 0 <= figure < 1e18, line
    night.repository.concluded("report", "--since", "2000-01-01")


@pytest.mark.parametrize("kind", some(["fifo", "link", "loop", "device", "folder", "huge"]))
def test_a_report_that_is_no_plain_file(night: Night, kind: str) -> None:
    night.employ("usage_is", kind)
    night.ask(1, "--max-tokens", "100")
    assert night.calls() == 1
    assert night.proposed() in ([], ["P1"])


@pytest.mark.parametrize(
    ("reports", "budget", "calls"),
    [
        ({"tokens": 60}, ("--max-tokens", "100"), 2),
        ({"tokens": 100}, ("--max-tokens", "100"), 1),
        ({"tokens": 10**9}, ("--max-tokens", "100"), 1),
        ({"money": 0.4}, ("--max-money", "1"), 3),
        ({"money": 7}, ("--max-money", "1"), 1),
        ({"tokens": 1, "money": 7}, ("--max-tokens", "1000", "--max-money", "1"), 1),
    ],
)
def test_the_call_that_exceeds_a_budget_is_the_last(
    night: Night, reports: dict[str, float], budget: tuple[str, ...], calls: int, tmp_path: Path
) -> None:
    file = tmp_path / "usage"
    file.write_text(json.dumps(reports))
    night.employ("usage", str(file))
    night.ask(5, *budget)
    assert night.calls() == calls
    night.ask(5, *budget)  # a new campaign, a new budget
    assert night.calls() > calls


@pytest.mark.parametrize(
    "said",
    [
        '{"usage": {"input_tokens": 900, "output_tokens": 900}, "total_cost_usd": 3}\n',
        "some words\n\x1b[31m{not json\n" + '{"usage": {"input_tokens": 900, "output_tokens": 900}, "total_cost_usd": 3}\n',
    ],
)
def test_costs_on_standard_output_count(night: Night, said: str, tmp_path: Path) -> None:
    file = tmp_path / "said"
    file.write_text(said)
    night.employ("says", str(file))
    night.ask(4, "--max-tokens", "1000")
    assert night.calls() == 1


WORDS = {
    "a bomb": b"a: &a [x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b]\ntitle: [*c,*c,*c,*c]\n",
    "code": b"title: !!python/object/apply:os.system ['touch pwned']\nkind: perf\nhypothesis: x\nprediction: {verdict: KEEP}\n",
    "an escape": b'title: "\\e[2Jcleared"\nkind: perf\nhypothesis: less\nprediction: {verdict: KEEP}\n',
    "a verdict": b"title: fine\nkind: perf\nhypothesis: less\nprediction: {verdict: KEEP}\nverdict: KEEP\n",
    "its own id": b"title: fine\nkind: perf\nhypothesis: less\nprediction: {verdict: KEEP}\nid: P999999999\n",
    "two documents": b"title: fine\n---\nkind: perf\n",
    "twice": b"title: fine\ntitle: another\nkind: perf\nhypothesis: less\nprediction: {verdict: KEEP}\n",
    "a list": b"- title\n",
    "nothing": b"",
    "long": b"title: " + b"x" * 100_000 + b"\nkind: perf\nhypothesis: less\nprediction: {verdict: KEEP}\n",
    "reversed": "title: fine \u202e\nkind: perf\nhypothesis: less\nprediction: {verdict: KEEP}\n".encode(),
    "forbids all": b"title: fine\nkind: perf\nhypothesis: less\nprediction: {verdict: KEEP}\nforbids: ['.']\n",
}


@pytest.mark.parametrize("words", some(WORDS))
def test_words_that_can_not_be_taken_are_told_back_harmlessly(night: Night, words: str, tmp_path: Path) -> None:
    file = tmp_path / "words"
    file.write_bytes(WORDS[words])
    night.employ("words", str(file))
    night.ask(2, "--max-experiments", "1")
    if words != "its own id":
        assert night.proposed() == []
        assert night.calls() == 2
        assert not set("\x1b\u202e") & set(night.told(1))
        assert len(night.told(1)) < len(night.told(0)) + 8000
    assert "P999999999" not in night.proposed()
    assert not list(night.repository.root.rglob("pwned"))
