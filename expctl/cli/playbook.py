"""What `expctl new --from` takes from a playbook, and what `--playbooks` prints."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from expctl.domain.experiment.playbook import Playbook


def print_playbooks(as_json: bool) -> None:
    """Print each playbook with what it bounds and what it does not prove."""
    from expctl.adapters.playbooks.shelf import playbooks
    from expctl.cli.output import print_result

    known = playbooks()

    def lines() -> list[str]:
        shown: list[str] = []
        for name, each in known.items():
            shown += [f"{name}  {each.title} ({each.kind})"]
            said = {"change": _way(each), "bounds": each.bounds, "not proven": each.does_not_prove}
            shown += [f"  {label:<11}{words}" for label, words in said.items()]
        return [*shown, "", "Queue one: expctl new --from NAME; where the change is yours: with --from-diff or --patch"]

    facts = [{"name": name, "playbook": each} for name, each in known.items()]
    print_result({"playbooks": facts}, lines, as_json, schema="playbooks/1")


def check_change(name: str, found: "Playbook", *, given: bool) -> None:
    """Raise Misused unless the change is named exactly once: by the playbook, or (`given`) on the command line."""
    from expctl.domain.errors import Misused

    if given and not found.change:
        raise Misused(
            f"the playbook {name} brings its change",
            code="playbook-has-change",
            expected="no other change",
            found=_way(found),
            hint=f"expctl new --from {name}",
        )
    if not given and found.change:
        raise Misused(
            f"the playbook {name} needs a change of yours",
            code="playbook-needs-change",
            expected=found.change,
            found="no change",
            hint=f"edit your code, then expctl new --from {name} --from-diff",
        )


def _way(found: "Playbook") -> str:
    return f"yours: {found.change}" if found.change else found.patch or " ".join(found.env)
