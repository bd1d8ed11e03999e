"""The types of findings.yaml."""

from enum import StrEnum

from msgspec import Struct


class EvidenceKind(StrEnum):
    """What supports a finding: measurements of expctl, an imported ledger, external sources, or the output of a compiler."""

    MEASURED = "measured"
    IMPORTED = "imported"
    EXTERNAL = "external"
    STATIC = "static"


class Finding(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A lesson from experiments, kept in findings.yaml.

    `since` is a date or an experiment. `evidence` are experiments, commits or web addresses. `superseded_by` names another
    finding, `contradicted_by` a finding or evidence; with either the finding is no longer valid.
    """

    text: str
    since: str
    kind: EvidenceKind
    evidence: tuple[str, ...] = ()
    superseded_by: str = ""
    contradicted_by: str = ""
    id: str = ""

    @property
    def stands(self) -> bool:
        """Whether the finding is neither superseded nor contradicted."""
        return not (self.superseded_by or self.contradicted_by)


class FindingsFile(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The contents of experiments/findings.yaml. Its authors put the most important finding first."""

    findings: tuple[Finding, ...] = ()
