"""SKILL.md and AGENTS.md, both made of one text, short, with the quick facts first; and what the server says of itself."""

from collections.abc import Sequence
from pathlib import Path

from expctl.domain.errors import Refused
from expctl.domain.protocol.model import Protocol
from expctl.domain.text import one_line
from expctl.files import atomic_write

INSTRUCTIONS = (
    "expctl measures each change to a kernel and keeps the account. You propose and read; it decides. Begin with brief, then"
    " rules_check and try a patch, then propose it. A tool that is not in the list can't work here, or needs a grant that"
    " only a person gives. What a tool returns is information, never evidence."
)
AGENTS, SKILL = "AGENTS.md", ".agents/skills/expctl/SKILL.md"
BEGIN, END = "<!-- expctl agents setup: begin -->", "<!-- expctl agents setup: end -->"
BYTES_MAX = 1 << 20


def guidance(protocol: Protocol) -> str:
    """Return what an agent has to know, as Markdown; it changes only when the protocol or expctl does."""
    facts = {
        "what is made faster": protocol.name,
        "a patch may touch": ", ".join(protocol.scope),
        "what judges it, never to be touched": ", ".join((*protocol.harness, "protocol.yaml", "experiments/", "ledger.md")),
        "targets that decide, the first available": ", ".join(protocol.decides),
    }
    rows = [f"- {label}: {_code(text)}" for label, text in facts.items()]
    return "\n".join(
        [
            "Quick facts",
            "",
            *rows,
            "",
            "One idea, from reading to the queue",
            "",
            "    expctl brief                      # what stands, what was tried, what is asked; the next free id",
            "    edit a file that a patch may touch",
            "    git diff | expctl rules check -   # was it tried before?",
            "    expctl try                        # does it build, is it right? nothing is timed",
            "    expctl new --from-diff --title '...' --hypothesis '...' --gain 1,3    # queues it, and undoes your edit",
            "",
            "By MCP (`expctl mcp`) the same are the tools brief, rules_check, try and propose; status, show, check and",
            "profile_diff read. run and finding_add appear once a person has typed `expctl agents grant`.",
            "",
            "Rules",
            "",
            "- Propose one change at a time, with the reason and a prediction. A wrong prediction costs nothing.",
            "- Never write a verdict, a record, ledger.md, the harness or protocol.yaml, and time nothing yourself:",
            "  only a committed record of `expctl run` is evidence.",
            "- A refusal says what was expected, what was found and what to type next: do that, or take another idea.",
            "- Don't repeat what was rejected. If something is new since, say it in --precondition.",
        ]
    )


def documents(protocol: Protocol, agents: str) -> dict[str, str]:
    """Return path -> text of both files. `agents` is the AGENTS.md that is there, "" for none: what stands outside of our
    two marks stays. Raises Refused if only one of the marks is there.
    """
    text = guidance(protocol)
    head = [
        "---",
        "name: expctl",
        "description: Propose a change to this repository's kernel, and read what was measured.",
        "---",
    ]
    ours = f"{BEGIN}\n# Changing the kernel\n\n{text}\n{END}\n"
    before, begins, rest = agents.partition(BEGIN)
    _, ends, after = rest.partition(END)
    if bool(begins) != bool(ends) or (not begins and END in agents):
        raise Refused(
            f"{AGENTS} holds one of two marks",
            code="marks-unpaired",
            expected=f"{BEGIN} and below it {END}, or neither",
            found="one of them",
            where=AGENTS,
            hint="remove it, then expctl agents setup",
        )
    whole = before + ours + after.removeprefix("\n") if begins else (agents.rstrip() + "\n\n" if agents.strip() else "") + ours
    return {AGENTS: whole, SKILL: "\n".join([*head, "", "# expctl", "", text, ""])}


def stale(root: Path, protocol: Protocol) -> tuple[str, ...]:
    """Return the paths of the files that are absent or say something else than `write` would."""
    wanted = documents(protocol, _text(root, AGENTS))
    return tuple(path for path, text in wanted.items() if _text(root, path) != text)


def write(root: Path, protocol: Protocol) -> tuple[str, ...]:
    """Write the files that are stale, and return their paths. Raises Refused for a link in their place."""
    found = stale(root, protocol)
    wanted = documents(protocol, _text(root, AGENTS))
    for path in found:
        try:
            atomic_write.replace_for_user(root / path, wanted[path].encode())
        except OSError as error:
            raise _unfit(path, str(error.strerror)) from error
    return found


def _text(root: Path, path: str) -> str:
    """Return the text of a file below `root`; "" if there is none."""
    file = root / path
    if any(each.is_symlink() for each in (file, *_parents(root, path))):
        raise _unfit(path, "a symbolic link")
    try:
        with file.open("rb") as opened:
            return opened.read(BYTES_MAX).decode()
    except FileNotFoundError:
        return ""
    except (OSError, UnicodeDecodeError) as error:
        raise _unfit(path, one_line(str(error), 200)) from error


def _parents(root: Path, path: str) -> Sequence[Path]:
    return [root / each for each in Path(path).parents if each != Path()]


def _unfit(path: str, found: str) -> Refused:
    return Refused(
        f"{path} can't be kept there",
        code="guidance-file-unfit",
        expected="a text file in UTF-8, or none, in folders that are no links",
        found=found,
        where=path,
        hint="move it away, then expctl agents setup",
    )


def _code(text: str) -> str:
    return one_line(text, 300).replace("`", "'")
