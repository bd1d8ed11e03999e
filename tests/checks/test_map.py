"""The map and the names lead a stranger to the right file: the questions that one was asked, and the answers."""

from pathlib import Path

import yaml

ROOT = Path(__file__).parents[2]
QUESTIONS = yaml.safe_load(Path(__file__).with_name("map_questions.yaml").read_text(encoding="utf-8"))
RIGHT_LEAST = 18


def test_every_answer_is_a_file_of_today() -> None:
    gone = [file for each in QUESTIONS for file in (*each["files"], each["answer"]) if not (ROOT / file).is_file()]
    assert gone == [], "moved: mend the map, and put these questions to a stranger again"


def test_a_stranger_found_the_file_at_the_first_try() -> None:
    assert len(QUESTIONS) == 20
    assert sum(each["answer"] in each["files"] for each in QUESTIONS) >= RIGHT_LEAST
