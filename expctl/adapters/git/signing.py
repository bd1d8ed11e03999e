"""Sign the commits of records as git signs the user's own, where the user asks for it: `git config expctl.sign true`."""

from pathlib import Path

from expctl.adapters.git.command import settings_like
from expctl.domain.errors import MachineTrouble

SWITCH = "expctl.sign"
KEYS = r"^(expctl\.sign|user\.signingkey|gpg\.(format|program|mintrustlevel|(ssh|openpgp|x509)\..*))$"
YES = ("true", "yes", "on", "1", "")


def signing_settings(root: Path) -> dict[str, str]:
    """Return git's settings of signing in the repository at `root`, its user's among them; {} unless `expctl.sign` is true."""
    entries = (entry.partition("\n") for entry in settings_like(KEYS, root))
    found = {key: value if given else "true" for key, given, value in entries}
    return found if found.pop(SWITCH, "false").lower() in YES else {}


def not_signed(stderr: str) -> MachineTrouble:
    """Return the error that git, which says `stderr`, couldn't sign the commit of a record."""
    return MachineTrouble(
        "the record can't be signed",
        code="record-cannot-be-signed",
        expected="a key with which git signs (user.signingKey; gpg.format is ssh for one of ssh)",
        found=stderr.splitlines()[0] if stderr else "no message",
        hint="make `git commit -S` work (ssh-add -l lists keys), or git config --unset expctl.sign; then run the same command "
        "again: nothing measured is lost",
    )
