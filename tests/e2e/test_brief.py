"""`expctl brief` and `expctl finding`, whole."""

from tests.e2e.foreign import Foreign


def test_a_brief_has_what_was_run_and_what_was_found(repository: Foreign) -> None:
    repository.propose("P1", "def total(values):\n    return sum([value * value for value in values])\n", "--gain", "10,400")
    repository.concluded("run", "P1")
    repository.queue("P2", "def total(values):\n    return sum(value * value for value in values)\n")
    repository.concluded("ledger")
    repository.commit("ledger")
    repository.concluded("finding", "add", "A list is summed faster.", "--evidence", "P1", "--evidence", repository.head())
    assert "stands so already" in repository.concluded("finding", "add", "a list is summed faster", "--evidence", "P1").out
    refused = repository.expctl("finding", "add", "Who knows.", "--evidence", "P2")
    assert (refused.status, "P2: it has no record yet; expctl run P2 makes one" in refused.err) == (1, True)
    before = repository.snapshot()
    text = repository.concluded("brief").out
    for words in (
        "- You may touch only src: at most 20 files",
        "shown by P1, epoch 1 (since P1, ",
        "- here: not calibrated here (`expctl calibrate --target here`); 1 timed experiment of epoch 1 showed sd",
        "- F1 (measured, P1,",
        "- P2 (perf, gain): another way; predicted KEEP.",
        "- 1 of 1 verdicts as predicted (1 of 1 predicted KEEPs were kept); 1 of 1 gains in the predicted range",
    ):
        assert words in text, text
    assert len(text.split()) <= 4000
    facts = repository.concluded("brief", "--json").json()
    assert [section["key"] for section in facts["sections"]][:2] == ["protocol", "propose"]
    assert repository.concluded("brief").out == text
    assert repository.snapshot() == before
    repository.concluded("finding", "contradict", "F1", "--by", "https://example.org/other")
    assert "\n- F1 is contradicted by https://example.org/other: A list" in repository.concluded("brief").out
    listed = repository.concluded("finding", "list").out
    assert listed.startswith("F1    A list is summed faster.\n      measured; since ")
    repository.concluded("calibrate", "--rounds", "5")
    assert "\n- here: calibrated " in repository.concluded("brief").out
    repository.check_nothing_is_left()
