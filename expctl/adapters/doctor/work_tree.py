"""Checks of `expctl doctor` on protocol.yaml in the work tree, which is read by nobody before it is committed."""

from collections.abc import Iterator
from pathlib import Path

from expctl.adapters.codec import strict_yaml
from expctl.adapters.codec.key_lines import with_lines
from expctl.domain.checkup import Finding, note, wrong
from expctl.domain.errors import Refused
from expctl.domain.protocol.inconsistencies import inconsistencies
from expctl.domain.protocol.model import Protocol
from expctl.files import own_file

FILE = "protocol.yaml"


def protocol_of_work_tree(root: Path) -> Protocol:
    """Return protocol.yaml as it lies in the work tree. Raises Refused with every unknown key, wrong type or contradiction,
    and its line."""
    try:
        text = own_file.contents(root / FILE, name=FILE)
    except FileNotFoundError as error:
        raise Refused(
            "this repository has no protocol",
            code="protocol-missing",
            expected=f"a file {FILE} at the top of the repository",
            found=str(error.strerror),
            where=FILE,
            hint="expctl init",
        ) from error
    try:
        protocol = strict_yaml.load(text, Protocol, where=FILE)
        if faults := inconsistencies(protocol):
            raise strict_yaml.contradiction(FILE, faults)
    except Refused as refusal:
        refusal.found = with_lines(refusal.found, text.decode(errors="replace"))
        raise
    return protocol


def work_tree_findings(root: Path, committed: bytes | None) -> Iterator[Finding]:
    """Yield what is wrong with protocol.yaml of the work tree; a note where it isn't that of HEAD, `committed`."""
    try:
        if own_file.contents(root / FILE, name=FILE) == committed:
            return
        protocol_of_work_tree(root)
    except FileNotFoundError:
        return
    except Refused as refusal:
        yield wrong("work tree", f"{refusal.message}: {'; '.join(refusal.found.splitlines())}", refusal.hint)
        return
    yield note("work tree", "protocol.yaml has changes that are not committed: a run reads the committed one")
