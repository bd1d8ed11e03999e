"""The playbooks of `expctl new --playbooks`, for a terminal."""

from collections.abc import Mapping

from expctl.domain.experiment.playbook import Playbook


def playbook_lines(known: Mapping[str, Playbook]) -> list[str]:
    """Return each playbook with its change, what it bounds and what it does not prove."""
    shown: list[str] = []
    for name, each in known.items():
        shown += [f"{name}  {each.title} ({each.kind})"]
        said = {"change": each.way, "bounds": each.bounds, "not proven": each.does_not_prove}
        shown += [f"  {label:<11}{words}" for label, words in said.items()]
    return [*shown, "", "Queue one: expctl new --from NAME; where the change is yours: with --from-diff or --patch"]
