"""The command `expctl rules`: list what must not be repeated and what is open again, and check a patch."""

from typing import TYPE_CHECKING, Annotated

import typer

from expctl.cli import rules_check

if TYPE_CHECKING:
    from pathlib import Path

    from expctl.adapters.git.reader import GitReader
    from expctl.domain.experiment.proposal import Probe
    from expctl.domain.experiment.record import Record

app = typer.Typer(invoke_without_command=True)
vars(rules_check)["typer"] = typer  # rules_check uses typer in annotations without importing it
app.command(short_help="Say whether a rule would refuse a patch.")(rules_check.check)


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


Experiment = Annotated[str, typer.Argument(metavar="ID", help="An experiment that left a rule.")]


@app.command(short_help="Show what a rule rests on.")
def why(experiment: Experiment) -> None:
    """Show the chain of evidence of a rule: verdict, figures, files, how a repeat is known, what holds and what has changed."""
    from expctl import wiring
    from expctl.cli.output import print_lines
    from expctl.domain.rules.states import rule_states
    from expctl.views.rules import why_lines

    git = wiring.reader(place := wiring.here())
    head, book = git.head(), wiring.rulebook(place, git)
    record = _ruled(git, head, experiment)
    state = next(each for each in rule_states(book.ruled(head), book.circumstances(head)) if each.id == record.id)
    files = sorted(git.list_files(head, f"experiments/{record.id}"))
    print_lines(why_lines(record, state, files))


@app.command(short_help="Try a rule on HEAD.")
def test(experiment: Experiment) -> None:
    """Try a rule on HEAD: does its patch fit, what do the compilers make of it. Exit 0: it can refuse a repeat; 1: it can't."""
    from expctl import wiring
    from expctl.cli.output import print_lines
    from expctl.flow.rules.trial import try_rule
    from expctl.views.rules import trial_lines

    git = wiring.reader(place := wiring.here())
    head = git.head()
    tried = try_rule(wiring.rulebook(place, git), head, _ruled(git, head, experiment))
    print_lines(trial_lines(tried))
    if not tried.refuses:
        raise typer.Exit(1)


@app.command(name="compile", short_help="Bring with a commit what its rules are compared by.")
def compile_rules() -> None:
    """Compile the rejected changes whose rules hold, and write what is compared to experiments/compiled.json.xz. Commit it, and
    a clone compares its first patch as quickly as any other. Needed again after a kernel, a compiler or a reader has changed.
    """
    import os
    import tempfile
    from pathlib import Path

    from expctl import wiring
    from expctl.adapters.rules.compiled_file import FILE
    from expctl.cli.output import print_lines
    from expctl.files import atomic_write
    from expctl.flow.rules.by_words import always_compiled

    git = wiring.reader(place := wiring.here())
    head, book = git.head(), wiring.rulebook(place, git)
    wanted = always_compiled(book, head, book.circumstances(head))
    if not wanted:
        print_lines(["no rule that holds here is compared by what compiles; nothing was written"])
        return
    file = place.root / FILE
    _check_writable(file)
    with tempfile.TemporaryDirectory(prefix=f"anew.{os.getpid()}.", dir=place.state / "meanings") as folder:
        data = wiring.compilers(place, git, wiring.library(git).protocol(head), Path(folder)).packed(wanted)
    atomic_write.replace_for_user(file, data)
    targets = ", ".join(dict.fromkeys(each.target for each in wanted))
    print_lines(
        [
            f"{FILE} written: {len({each.version for each in wanted})} versions for {targets}, {len(data) / 1024:.0f} KiB",
            f"  next       git add {FILE} && git commit",
        ]
    )


def _check_writable(file: "Path") -> None:
    """Raise OSError now, and not after a minute of compiling, if the file can't be written."""
    import errno
    import os

    file.parent.mkdir(exist_ok=True)
    reason = errno.EISDIR if file.is_dir() else 0 if os.access(file.parent, os.W_OK) else errno.EACCES
    if reason:
        raise OSError(reason, os.strerror(reason), str(file))


def _ruled(git: "GitReader", head: str, experiment: str) -> "Record":
    from expctl import wiring
    from expctl.domain.errors import Refused
    from expctl.domain.experiment.ids import check_id

    record = wiring.library(git).record(head, check_id(experiment))
    if record is None or record.rule is None:
        raise Refused(
            f"{experiment} left no do-not-repeat rule",
            code="no-such-rule",
            expected="an experiment that was rejected, and left a rule",
            found="no record of it in HEAD" if record is None else f"it ended {record.verdict}",
            hint="expctl rules lists those that there are",
        )
    return record
