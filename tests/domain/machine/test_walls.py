"""What is said of the walls' self-test."""

from expctl.domain.machine.walls import Attempt, Outcome, Walls


def walls(*outcomes: Outcome) -> Walls:
    attempts = (Attempt(act=f"act {number}", outcome=each, how="x", by=("y",)) for number, each in enumerate(outcomes))
    return Walls(confinement="landlock 7", attempts=tuple(attempts))


def test_what_is_absent_is_not_counted() -> None:
    assert walls(Outcome.STOPPED, Outcome.ABSENT).words().startswith("1 of 1 acts stopped (")
    assert walls(Outcome.STOPPED, Outcome.ABSENT).flag == ""


def test_what_is_open_is_named_and_a_few_are_enough() -> None:
    assert walls(Outcome.OPEN, Outcome.STOPPED).flag == "WALLS OPEN: 1 of 2 acts not stopped: act 0"
    assert walls(*[Outcome.OPEN] * 9).flag.endswith("act 4, act 5 and 3 more")


def test_the_hash_knows_each_outcome_and_the_confinement() -> None:
    one, other = walls(Outcome.STOPPED, Outcome.OPEN), walls(Outcome.OPEN, Outcome.STOPPED)
    assert one.digest != other.digest
    assert one.digest != Walls(confinement="landlock 6", attempts=one.attempts).digest


def test_without_a_self_test_nothing_is_said() -> None:
    assert Walls().facts() == {}
    assert Walls().flag == ""
