"""Ask for title and hypothesis of a proposal in the user's editor, as git asks for a commit message."""

from pathlib import Path

from expctl.adapters.git.command import open_in_editor
from expctl.domain.errors import Refused
from expctl.files import atomic_write

HELP = """
# The first line is the title: what changes, in a few words. What follows is the hypothesis: why it should help.
# Lines that begin with # are left out. Without a title nothing is queued.
"""


def words_from_editor(kept: Path, *, title: str, hypothesis: str) -> tuple[str, str]:
    """Return (title, hypothesis) as the user leaves them in the file `kept`, which begins with these words, or with those of an
    attempt that failed. The caller removes the file once they are committed. Raises Refused if there is no title, or no editor.
    """
    if not kept.exists():
        atomic_write.replace(kept, f"{title}\n\n{hypothesis}\n{HELP}".encode())
    editor, status = open_in_editor(kept)
    lines = [line for line in kept.read_text(errors="replace").splitlines() if not line.startswith("#")]
    first, _, rest = "\n".join(lines).strip().partition("\n")
    if status or not first.strip():
        raise Refused(
            "nothing was queued, because there is no title",
            code="no-title",
            expected="a title in the first line, and an editor that ends with status 0",
            found=f"{editor} ended with status {status}" if status else "an empty text",
            where=str(kept),
            hint="the same command again goes on with that text; or give --title and --hypothesis",
        )
    return first.strip(), " ".join(rest.split()) or hypothesis
