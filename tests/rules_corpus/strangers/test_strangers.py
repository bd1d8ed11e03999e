"""A stranger's repeats are known before anything is built, and honest changes go free, by what compilers said of them."""

from pathlib import Path

import pytest

from expctl.domain.rules.match_levels import Level
from expctl.domain.rules.meaning import NEAR_PERCENT
from tests.rules_corpus.strangers.corpus import HONEST, REPEAT, Answer, Corpus, Pair, own_pairs, table, unpacked


@pytest.fixture(scope="module")
def answers(tmp_path_factory: pytest.TempPathFactory) -> dict[Pair, Answer]:
    corpus = Corpus.recorded(tmp_path_factory.mktemp("corpus"))
    return {pair: corpus.answer(pair) for pair in own_pairs()}


def test_repeats_are_caught_and_honest_changes_are_not(answers: dict[Pair, Answer]) -> None:
    caught = [bool(answer.level) for pair, answer in answers.items() if pair.kind == REPEAT]
    refused = [bool(answer.level) for pair, answer in answers.items() if pair.kind == HONEST]
    assert (len(caught), len(refused)) == (105, 69)
    assert sum(caught) >= 0.95 * len(caught), "\n".join(table(answers))
    assert sum(refused) <= len(refused) / 60, "\n".join(table(answers))


def test_what_is_shown_as_close_is_close(answers: dict[Pair, Answer]) -> None:
    free = [(pair, answer.percent) for pair, answer in answers.items() if not answer.level]
    shown = [pair for pair, percent in free if percent >= NEAR_PERCENT]
    honest = [pair for pair in shown if pair.kind == HONEST]
    assert len(shown) - len(honest) >= 2 / 3 * sum(pair.kind == REPEAT for pair, _ in free)
    assert len(honest) <= 4
    assert [pair.name for pair in honest if not pair.way.startswith("close")] == []


def test_most_are_known_by_what_they_compile_to(answers: dict[Pair, Answer]) -> None:
    levels = [answer.level for pair, answer in answers.items() if pair.kind == REPEAT]
    assert levels.count(Level.MEANING) > 80
    assert Level.CODE in levels


@pytest.mark.parametrize("name", ["001-macro", "092-paste"])
def test_what_is_recorded_is_what_the_compilers_say(name: str, tmp_path: Path) -> None:
    """Compiled here and now, for the config of the KPI."""
    pairs = [pair for pair in own_pairs() if pair.name.startswith(name)]
    corpus = Corpus(tmp_path, unpacked("patches.tar.xz"))
    for pair in pairs:
        assert corpus.answer(pair).level == Level.MEANING


@pytest.mark.long
@pytest.mark.timeout(3600)  # 174 pairs, of all configs
def test_every_pair_compiled_anew(tmp_path: Path, answers: dict[Pair, Answer]) -> None:
    corpus = Corpus(tmp_path, unpacked("patches.tar.xz"))
    assert {pair.name: corpus.answer(pair).level for pair in own_pairs()} == {
        pair.name: answer.level for pair, answer in answers.items()
    }
