"""Read experiments/findings.yaml strictly, and edit it by inserting lines, so that comments and wording are kept."""

import json
import re
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

from expctl.adapters.codec.strict_yaml import contradiction, load
from expctl.domain.errors import Refused
from expctl.domain.experiment.finding import Finding, FindingsFile
from expctl.domain.experiment.findings import file_faults, numbered
from expctl.domain.text import plain_text

WIDTH = 120
PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9-]*", re.ASCII)
HEADER = """\
# What outlives the experiment that showed it. Read strictly; the ledger prints it in this order.
# kind: measured (by expctl), imported (from a hand-kept ledger), external (known from elsewhere), static (a compiler says so).
findings:
"""


def findings_of(text: bytes, *, where: str) -> tuple[Finding, ...]:
    """Parse findings.yaml; a finding without an id gets one from its position there. Raises Refused with every problem."""
    if not text.strip():
        return ()
    found = load(text, FindingsFile, where=where).findings
    faults = file_faults(found)
    if faults:
        raise contradiction(where, faults)
    return numbered(found)


class FindingsEditor:
    """Edits the text of findings.yaml. Every edit also writes an id to each finding that has none in the file."""

    def added(self, text: bytes, finding: Finding) -> bytes:
        """Return the file `text` with `finding` added at its end. Raises Refused if the file's layout doesn't allow it."""
        before = findings_of(text, where="findings.yaml")
        decoded = self._with_ids(text).decode() if before else HEADER
        indent = " " * (_items(decoded)[0].start_mark.column - 2) if before else ""
        lines = textwrap.indent(_item(finding), indent)
        return _checked(decoded.rstrip("\n") + "\n" + lines, (*before, finding))

    def marked(self, text: bytes, finding: Finding) -> bytes:
        """Return `text` with `superseded_by` and `contradicted_by` of one finding, known by its id, set as in `finding`. Raises
        Refused if the file's layout doesn't allow it.
        """
        before = {each.id: each for each in findings_of(text, where="findings.yaml")}
        was = before[finding.id]
        keys = {
            key: getattr(finding, key)
            for key in ("superseded_by", "contradicted_by")
            if getattr(finding, key) != getattr(was, key)
        }
        decoded = self._with_ids(text).decode()
        index = list(before).index(finding.id)
        return _checked(_inserted(decoded, {index: keys}), tuple((before | {finding.id: finding}).values()))

    @staticmethod
    def _with_ids(text: bytes) -> bytes:
        written = load(text, FindingsFile, where="findings.yaml").findings
        missing = {i: {"id": new.id} for i, (old, new) in enumerate(zip(written, numbered(written), strict=True)) if not old.id}
        return _inserted(text.decode(), missing).encode()


def _inserted(text: str, keys: Mapping[int, Mapping[str, str]]) -> str:
    """Return `text` (findings.yaml) with keys inserted after the `id` of some findings; `keys`: index -> key -> value."""
    items = _items(text)
    for index in sorted(keys, reverse=True):
        node = items[index]
        start = next(key for key, _ in node.value if key.value != "id").start_mark
        end = ", " if node.flow_style else "\n" + " " * start.column
        new = "".join(f"{key}: {_leaf(value)}{end}" for key, value in keys[index].items())
        text = text[: start.index] + new + text[start.index :]
    return text


def _items(text: str) -> Sequence[Any]:
    import yaml

    root: Any = yaml.compose(text, Loader=yaml.SafeLoader)
    return next(value for key, value in root.value if key.value == "findings").value  # type: ignore[no-any-return]


def _item(finding: Finding) -> str:
    text = textwrap.wrap(plain_text(finding.text), WIDTH, break_long_words=False, break_on_hyphens=False)
    lines = [f"- id: {finding.id}", "  text: >-", *(f"    {line}" for line in text)]
    lines += [f"  since: {_leaf(finding.since)}", f"  kind: {finding.kind}"]
    lines += [f"  evidence: [{', '.join(_leaf(link) for link in finding.evidence)}]"] if finding.evidence else []
    return "\n".join(lines) + "\n"


def _leaf(text: str) -> str:
    return text if PLAIN.fullmatch(text) else json.dumps(text, ensure_ascii=False)


def _checked(text: str, wanted: tuple[Finding, ...]) -> bytes:
    written = text.encode()
    try:
        same = findings_of(written, where="findings.yaml") == wanted
    except Refused:
        same = False
    if not same:
        raise Refused(
            "experiments/findings.yaml has a layout that commands can't edit",
            code="findings-form-not-editable",
            expected="a list of mappings in block style under `findings:`, and nothing after it",
            found="another layout",
            where="experiments/findings.yaml",
            hint="put every finding on lines of its own (`- text: ...`), or edit the file by hand and commit it",
        )
    return written
