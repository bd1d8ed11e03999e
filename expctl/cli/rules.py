"""The command `expctl rules`: list what must not be repeated and what is open again, and check a patch."""

from typing import TYPE_CHECKING, Annotated

import typer

from expctl.cli import rules_check, rules_evidence

if TYPE_CHECKING:
    from expctl.domain.experiment.proposal import Probe

app = typer.Typer(invoke_without_command=True)
vars(rules_check)["typer"] = typer  # rules_check uses typer in annotations without importing it
app.command(short_help="Say whether a rule would refuse a patch.")(rules_check.check)
app.command(short_help="Show what a rule rests on.")(rules_evidence.why)
app.command(short_help="Try a rule on HEAD.")(rules_evidence.test)


@app.callback()
def rules(
    ctx: typer.Context,
    probe: Annotated[str, typer.Option(metavar="ID", help="Compile a rule's probe, which opens the rule if it works.")] = "",
    arch: Annotated[str, typer.Option(metavar="GPU", help="With --probe: for this architecture as well.")] = "",
    assume: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Suppose another value of ziglang, hipcc, nvcc, cc, architecture or epoch."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print facts as JSON.")] = False,
) -> None:
    """List do-not-repeat rules: active, open again (with the condition that changed) and waived."""
    if ctx.invoked_subcommand is not None:
        return
    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.domain.errors import Misused
    from expctl.domain.rules.states import rule_states
    from expctl.views.rules import rules_lines

    if arch and not probe:
        raise Misused(
            "--arch only works together with --probe",
            code="arch-without-probe",
            expected="--probe ID as well",
            found=arch[:60],
            hint="expctl rules --probe P2 --arch gfx1250",
        )
    if probe:
        _try_probe(probe, arch, as_json)
        return
    git = wiring.reader(place := wiring.here())
    head, book = git.head(), wiring.rulebook(place, git, rules_check.assumed(assume or []))
    states = rule_states(book.ruled(head), book.circumstances(head))
    print_result({"rules": states}, lambda: rules_lines(states), as_json, schema="rules/1")


def _try_probe(experiment: str, arch: str, as_json: bool) -> None:
    from msgspec.structs import replace

    from expctl import wiring
    from expctl.cli.output import print_result
    from expctl.domain.errors import Refused
    from expctl.domain.experiment.ids import check_id
    from expctl.views.rules import probe_lines

    git = wiring.reader(place := wiring.here())
    head = git.head()
    record = wiring.library(git).record(head, check_id(experiment))
    found: Probe | None = record.rule.probe if record is not None and record.rule is not None else None
    if found is None:
        book = wiring.rulebook(place, git)
        held = [each.id for each in book.ruled(head) if each.rule is not None and each.rule.probe is not None]
        raise Refused(
            f"no rule of {experiment} has a probe",
            code="rule-has-no-probe",
            expected="an experiment whose do-not-repeat rule has a probe, a snippet that fails while the rule holds",
            found=f"those with one: {', '.join(held) or 'none'}",
            hint="expctl rules",
        )
    now = wiring.rulebook(place, git).circumstances(head)
    wanted = dict.fromkeys(each for each in (found.arch, arch) if each)
    answers = [(each, now.probe(replace(found, arch=each))) for each in wanted]
    facts = {"id": experiment, "probe": found, "answers": dict(answers)}
    print_result(facts, lambda: probe_lines(experiment, found, answers), as_json, schema="rules-probe/1")
