"""`expctl show`: one experiment, whole."""

from typing import Annotated

import typer


def show(
    experiment: Annotated[str, typer.Argument(metavar="ID")],
    apply: Annotated[bool, typer.Option("--apply", help="Put its patch into the work tree, on a clean scope.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """Hypothesis, prediction against outcome, numbers, reasons, resource and profile change of one experiment."""
    from expctl import wiring
    from expctl.cli.output import print_json, print_lines
    from expctl.domain.errors import Refused
    from expctl.domain.experiment import check_id
    from expctl.views.console import ConsoleProgress
    from expctl.views.report import proposal_lines, record_lines

    check_id(experiment)
    place = wiring.here()
    if apply:
        from expctl.flow.propose import reapply

        changed = reapply(wiring.world(place, ConsoleProgress()), experiment)
        print_lines([f"applied to the work tree: {', '.join(changed)}"])
        return
    git = wiring.reader(place)
    library, head = wiring.library(git), git.head()
    record = library.record(head, experiment)
    if record is not None:
        if as_json:
            print_json(record)
        else:
            print_lines(record_lines(record, library.protocol(head).references))
        return
    proposals = {each.id: each for each in library.proposals(head)}
    if experiment not in proposals:
        raise Refused(
            f"there is no {experiment}",
            expected="an experiment that is committed",
            found=f"no experiments/{experiment} in {head[:10]}",
            hint="expctl status lists what waits, ledger.md everything",
        )
    if as_json:
        print_json(proposals[experiment])
    else:
        print_lines(proposal_lines(proposals[experiment], library.protocol(head).references))
