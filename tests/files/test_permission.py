"""What is advised where a file may not be read or written: a command for its owner, and for others whose it is."""

import os
from pathlib import Path

import pytest

from expctl.files.permission import permission_mend


def test_the_owner_is_told_the_command(tmp_path: Path) -> None:
    assert permission_mend(tmp_path, "w") == f"chmod u+w {tmp_path}"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give files away")
@pytest.mark.parametrize(("owner", "name"), [(12345, "user 12345"), (1, "daemon")])
def test_another_user_is_told_whose_it_is(tmp_path: Path, owner: int, name: str) -> None:
    os.chown(tmp_path, owner, -1)
    mend = permission_mend(tmp_path, "w")
    assert name in mend
    assert "chmod" not in mend
