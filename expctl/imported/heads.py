"""The heads of the columns in hand-kept tables, by what stands below them."""

from enum import StrEnum


class Role(StrEnum):
    """What a column of a hand-kept table can hold: id, verdict, change, result, reason or date."""

    NAME = "id"
    VERDICT = "verdict"
    CHANGE = "change"
    RESULT = "result"
    WHY = "reason"
    DATE = "date"


def _heads(text: str) -> tuple[str, ...]:
    return tuple(" ".join(head.split()) for head in text.split(","))


# Best head first. `outcome` and `result` occur twice: the cells decide whether they are verdicts or figures.
HEADS = {
    Role.NAME: _heads(
        """id, exp, exp id, experiment id, no, nr, number, run, run id, attempt, iter, iteration, round, pass, index, step,
        trial, version, ver, experiment, commit, sha, hash, revision, rev, checkpoint, job,
        job id, tag, exp no, nummer, versuch, lauf, kennung, schritt, 编号, 实验, 轮次, 版本"""
    ),
    Role.VERDICT: _heads(
        """keep, kept, keep reject, verdict, decision, disposition, ruling, retained, landed, adopted, merged, shipped, status,
        outcome, accepted, accept, conclusion, state, action, result, urteil, entscheidung, behalten, bewertung, ausgang, stand,
        ergebnis, 状态, 决定, 决策, 判定, 裁决, 结论, 是否保留, 状態, 判定, 結論,
        採否, estado, decisão, veredito, veredicto, decisión, statut, décision, situação"""
    ),
    Role.CHANGE: _heads(
        """change, changes, description, idea, optimization, optimisation, modification, hypothesis, what, what changed,
        what was tried, tried, approach, technique, candidate, attempt, probe, title, name, variant, variation, kernel, config,
        configuration, experiment, test, trial, patch, proposal, lever, knob, simplification, branch, item, fix, improvement,
        änderung, änderungen, idee, beschreibung, maßnahme, was, versuch, ansatz, titel, variante,
        改动, 变更, 修改, 优化, 假设, 方案, 描述, 内容, 尝试, 想法,
        案, 手, 中身, 施策, 変更, 改善, 候補, mudança, mudanças, alteração, tentativa, ideia, otimização, cambio, intento,
        optimización"""
    ),
    Role.RESULT: _heads(
        """result, results, key result, outcome, measurement, measured, effect, impact, figures, numbers, metric, ergebnis,
        ergebnisse, messung, gemessen, wirkung, messwert, messwerte, ausgang, 结果, 关键结果, 效果, 性能, 指标, 結果, 効果,
        resultado, ganho, efeito, ganancia, résultat, gain"""
    ),
    Role.WHY: _heads(
        """why, reason, reasons, note, notes, comment, comments, explanation, because, learning, lesson, takeaway, remark,
        remarks, rationale, analysis, warum, grund, gründe, begründung, bemerkung, bemerkungen, anmerkung, anmerkungen, notiz,
        notizen, kommentar, erkenntnis, 原因, 备注, 说明, 分析, 教训, 结论, メモ, 理由, 備考, lição, razão, motivo,
        notas, raison, leçon, 根拠"""
    ),
    Role.DATE: _heads("date, day, when, timestamp, time stamp, datum, tag, wann, zeitpunkt, 日期, 时间"),
}
# What stands below one of these was tried: check marks beside it say what became of it, and not what is fast enough.
TRIED = _heads(
    """change, changes, idea, optimization, optimisation, modification, hypothesis, what changed, what was tried, tried,
    approach, technique, candidate, attempt, experiment, trial, probe, patch, proposal, lever, knob, simplification,
    experiments,
    änderung, idee, maßnahme, versuch, ansatz, 假设, 改动, 优化, 方案, 尝试, 案, 手, 施策, 候補, mudança, tentativa, cambio,
    what, improvement, improvements"""
)
# What stands below one of these is true or false: a check mark beside it is no decision.
CLAIMED = _heads(
    """claim, claims, statement, statements, assumption, assumptions, belief, question, questions, requirement, requirements,
    criterion, criteria, 论断, prediction, predictions, expectation, expectations, expected, frage, annahme, behauptung,
    erwartung"""
)
# What stands below one of these is measured, and no change.
MEASURED_ON = _heads("workload, workloads, benchmark, benchmarks, case, cases, dataset, corpus, query, queries, input, scene")
# A row that begins with one of these tells of a goal.
GATED = _heads("metric, metrics, gate, gates, check, checks, kpi")
# Columns with these heads hold verdicts, even where few cells are recognised, ...
STRONG = _heads(
    "keep, kept, keep reject, verdict, decision, disposition, ruling, urteil, entscheidung, behalten, bewertung, "
    "keep or revert, 决定, 决策, 裁决, 是否保留"
)
# ... and yes, no or a check mark in a column with these heads is one.
ASKING = (*STRONG, *_heads("accepted, accept, retained, landed, adopted, merged, shipped, outcome"))
# A head with one of these names what somebody thought at another time: `Verdict then`, `Expected outcome`.
ELSEWHEN = frozenset(("then", "previous", "prior", "old", "earlier", "expected", "predicted", "planned", "bisher", "erwartet"))
# What stands below one of these explains the word beside it.
MEANING = _heads("meaning, means, what it means, definition, meant, bedeutung, bedeutet")
# A table with one of these holds changes, ...
OF_CHANGES = (*TRIED, *_heads("version, ver, exp, exp id, experiment id, iter, iteration, versuch"))
# ... and one whose head begins with one of these holds them against a baseline.
AGAINST = ("vs", "versus", "delta", "δ", "gegen")
