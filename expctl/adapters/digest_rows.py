"""Digests as rows of plain lists: ten thousand are decoded in a tenth of a second, which strict decoding can't."""

from collections.abc import Mapping, Sequence
from typing import Any

from expctl.domain.digest import Digest
from expctl.domain.epochs import Measuring
from expctl.domain.experiment import Kind, Prediction, Verdict
from expctl.domain.ground import Ground
from expctl.domain.ledger_baseline import ImportedBaseline
from expctl.domain.ledger_rows import RuleRow
from expctl.domain.predictions import Forecast
from expctl.domain.record import Lapse

Row = list[Any]
KINDS = {kind.value: kind for kind in Kind}
VERDICTS = {verdict.value: verdict for verdict in Verdict}


class Rows:
    """Rows by the tree of an experiment's folder, None where it has no record. A ground is named by its number."""

    def __init__(self, rows: Mapping[str, Row | None], grounds: Sequence[Sequence[Any]]) -> None:
        self._rows = rows
        self._grounds = [Ground(protocol=protocol, parts=parts) for protocol, parts in grounds]

    def __contains__(self, tree: str) -> bool:
        return tree in self._rows

    def digest(self, tree: str) -> Digest | None:
        """The digest of the record in that folder."""
        row = self._rows[tree]
        if row is None:
            return None
        (name, title, kind, target, verdict, imported, date, reason, lands, timed_on, sd, debt, given, told, rule, measured) = (
            row
        )
        return Digest(
            id=name,
            title=title,
            kind=KINDS[kind],
            target=target,
            verdict=VERDICTS[verdict],
            imported=imported,
            date=date,
            reason=reason,
            lands=lands,
            timed_on=tuple(timed_on),
            sd_percent=sd,
            debt=debt,
            given=ImportedBaseline(**given) if given else None,
            forecast=_forecast(name, target, verdict, told) if told else None,
            rule=_rule(name, rule) if rule else None,
            measurings=tuple(
                Measuring(id=name, target=where, date=when, base=base, ground=self._grounds[number], again=index > 0)
                for index, (where, when, base, number) in enumerate(measured)
            ),
        )

    @staticmethod
    def of(digests: Mapping[str, Digest | None]) -> tuple[dict[str, Row | None], list[Row]]:
        """(rows, grounds), plain."""
        numbers: dict[str, int] = {}
        grounds: list[Row] = []

        def number(ground: Ground) -> int:
            key = repr((ground.protocol, sorted(ground.parts.items())))
            if key not in numbers:
                numbers[key] = len(grounds)
                grounds.append([ground.protocol, dict(ground.parts)])
            return numbers[key]

        rows = {
            tree: _row(each, [number(one.ground) for one in each.measurings]) if each else None
            for tree, each in digests.items()
        }
        return rows, grounds


def _row(each: Digest, grounds: Sequence[int]) -> Row:
    given, told, rule = each.given, each.forecast, each.rule
    said = [told.hypothesis, told.predicted.verdict, told.predicted.gain_percent, told.predicted.text] if told else []
    return [
        each.id,
        each.title,
        each.kind,
        each.target,
        each.verdict,
        each.imported,
        each.date,
        each.reason,
        each.lands,
        each.timed_on,
        each.sd_percent,
        each.debt,
        {name: getattr(given, name) for name in ("target", "id", "title", "given", "date")} if given else None,
        [*said, told.gain_percent, told.counts] if told else None,
        _rule_row(rule) if rule else None,
        [[one.target, one.date, one.base, number] for one, number in zip(each.measurings, grounds, strict=True)],
    ]


def _rule_row(rule: RuleRow) -> Row:
    """Without the experiments that it let pass: those are in other records."""
    lapses = [[each.condition, each.was, each.now, each.evidence] for each in rule.lapses]
    return [rule.text, rule.conditions, rule.reopened_by, rule.known_by, lapses]


def _forecast(name: str, target: str, verdict: str, told: Row) -> Forecast:
    hypothesis, predicted, gain, text, measured, counts = told
    return Forecast(
        id=name,
        target=target,
        hypothesis=hypothesis,
        predicted=Prediction(verdict=VERDICTS[predicted], gain_percent=tuple(gain) if gain else None, text=text),
        verdict=VERDICTS[verdict],
        gain_percent=measured,
        counts=counts,
    )


def _rule(name: str, rule: Row) -> RuleRow:
    text, conditions, reopened_by, known_by, lapses = rule
    return RuleRow(
        id=name,
        text=text,
        conditions=tuple(map(tuple, conditions)),
        reopened_by=reopened_by,
        known_by=tuple(known_by),
        lapses=tuple(Lapse(condition=name, was=was, now=now, evidence=by) for name, was, now, by in lapses),
        waived=(),
    )
