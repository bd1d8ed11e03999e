"""What a record says of walls that were open, and that everything else of it stays as it is."""

from msgspec.structs import replace

from expctl.domain.experiment.record import Record
from expctl.domain.ledger.rows import why_of
from expctl.domain.machine.walls import Attempt, Outcome, Walls
from expctl.flow.run.experiment import run_experiment
from tests.fakes.stage import Stage


def walls(outcome: Outcome) -> Walls:
    return Walls(confinement="own calls", attempts=(Attempt(act="signals the runner", outcome=outcome, how="done", by=("x",)),))


def run(stage: Stage, found: Walls, *, again: bool = False) -> Record:
    context = replace(stage.context(), walls=lambda: found)
    return run_experiment(context, "P1", again=again).record


def test_an_open_wall_is_said_at_the_start_in_the_record_and_in_the_ledger() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    record = run(stage, walls(Outcome.OPEN))
    flag = "WALLS OPEN: 1 of 1 acts not stopped: signals the runner"
    assert record.flags[0] == flag
    assert record.environment["walls"] == f"0 of 1 acts stopped ({walls(Outcome.OPEN).digest})"
    assert why_of(replace(record, reasons=("a long story " * 99,))).startswith("WALLS OPEN: 1 of 1; a long story")
    assert any(line.startswith(f"walls {flag}") for line in stage.progress.lines)


def test_closed_walls_leave_their_hash_alone() -> None:
    stage = Stage()
    stage.queue("P1", "slow 900000")
    record = run(stage, walls(Outcome.STOPPED))
    assert record.environment["walls"] == f"1 of 1 acts stopped ({walls(Outcome.STOPPED).digest})"
    assert not any("WALLS" in flag for flag in record.flags)
