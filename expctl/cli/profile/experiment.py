"""The command `expctl profile ID`: explain a concluded experiment by building and profiling both of its sides again."""

from typing import Annotated

import typer

from expctl.cli.experiment_ids import experiment_ids


def experiment(
    experiment: Annotated[str, typer.Argument(metavar="ID", help="A concluded one.", autocompletion=experiment_ids)],
    target: Annotated[str, typer.Option(help="Only this target; default: all that can be built here.")] = "",
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Explain a concluded experiment, a REJECT for instance: build and profile both sides, say what differs. Times nothing but
    what a profiler of a GPU records, records nothing.
    """
    import os

    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.domain.experiment.ids import check_id
    from expctl.views.profiled import profiled_lines

    check_id(experiment)
    if wiring.measured_beside():
        os.nice(19)  # what is being timed comes first
    found = wiring.profile_experiment(wiring.here(), experiment, target)
    print_result(found, lambda: list(profiled_lines(found)), as_json, schema="profile-experiment/1")
