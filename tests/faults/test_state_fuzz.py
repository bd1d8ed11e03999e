"""A few damages of every state file; with --long two thousand."""

from tests.faults.state_fuzz import played


def test_no_damaged_file_of_state_lies_or_crashes(long: bool) -> None:
    found = [each for each in played(2000 if long else 10, seed=3) if each[2]]
    assert found == []
