"""Every verb of the command line leads to a file."""

import pytest

from expctl.cli.app import VERBS, application


@pytest.mark.filterwarnings("ignore:.*click.*:DeprecationWarning")  # of typer's own imports, with a newer click
@pytest.mark.parametrize("verb", VERBS)
def test_a_verb_is_found_by_its_name(verb: str) -> None:
    found = application((verb,))
    names = {command.name for command in found.registered_commands} | {group.name for group in found.registered_groups}
    assert verb in names
