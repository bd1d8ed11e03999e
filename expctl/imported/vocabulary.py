"""The words with which people state verdicts, and those with which they speak of something else."""

import re

from expctl.domain.experiment.proposal import Kind, Verdict

ANSWERS = {
    **dict.fromkeys(("y", "yes", "ja", "true"), Verdict.KEEP),
    **dict.fromkeys(("n", "no", "nein", "false"), Verdict.REJECT),
}
BITS = {"1": Verdict.KEEP, "0": Verdict.REJECT}
MARKED = {**dict.fromkeys("✓✔✅☑👍", Verdict.KEEP), **dict.fromkeys("✗✘❌✖👎", Verdict.REJECT)}
# `promote it` and `kill` decide, `Promote to public` and `kill now` order something.
PROMOTE = r"promoted|promote(?! (?:to|from)\b)"
MERGE = r"(?-i:MERGE)(?=\s*(?:$|[(:;,.]))"
KILL = r"(?<!conditional )kill(?![- ]?switch|-| now\b| if\b)|killed(?! (?:by|before|while|during)\b)"
# `removed` and `Dropped: no gain` give a change up; `removed 4 MB`, `dropped the lock` and `dropped to 3 ms` tell what it did.
GONE = (
    r"(?:removed|dropped)(?=\W*$|\s*[,;:.()\[\]|–—]"
    r"|\s+(?:[-–—]|again|after|as|at|because|but|and|due|for|in|it|later|on|since|with)(?!\w))"
)
APPLIED = r"applied(?! to\b)"
WORDS = (
    (
        Verdict.REJECT,
        r"(?:not (?:be )?|never )(?:kept(?! as (?:the )?default)|merged|adopted|landed|accepted|retained|shipped"
        r"|committed|deployed|viable)"
        r"|not (?:be )?promoted"
        r"|(?:don.?t|do not|did not|didn.?t) keep"
        r"|not (?:apply|applied|added)|do(?:n.?t| not) (?:apply|add|adopt|merge|ship|use)"
        r"|not worth|dead[- ]end|dead(?=\s*(?:[:;,.]|$))|(?:kept|left) (?:off|out|disabled)|no[- ]go|no[- ]ship",
    ),
    (Verdict.INVALID, r"correctness[ _](?:fail(?:ed|ures?)?|error)|failed correctness|wrong results?"),
    (Verdict.REJECT, r"nicht (?:behalten|beibehalten|übernommen|angenommen|akzeptiert)"),
    (
        Verdict.KEEP,
        r"keep(?! (?:in mind|an eye|track|going|trying)\b)|keeps|kept|keeper|accept|accepted|adopt|adopted|merged"
        r"|landed|ship|shipped|deployed"
        rf"|retain|retained|committed|{MERGE}|{PROMOTE}|selected|apply|{APPLIED}",
    ),
    (Verdict.KEEP, r"behalten|beibehalten|übernommen|angenommen|akzeptiert"),
    (
        Verdict.REJECT,
        r"reject|rejected|discard|discarded|revert|reverted|drop|rolled back|backed out|abandoned|scrapped"
        rf"|{GONE}|{KILL}|demoted(?! (?:from|to)\b)|lost"
        r"|fail(?!-(?:closed|open|safe|fast|soft))|failed|regression|regressed",
    ),
    (
        Verdict.REJECT,
        r"verworfen|abgelehnt|zurückgenommen|zurückgewiesen|rückgängig|aufgegeben|gescheitert|fehlgeschlagen|durchgefallen",
    ),
    (Verdict.INVALID, r"crash|crashed|oom|invalid|error|timeout|timed out|aborted"),
    (Verdict.KEEP, r"aceit[oa]s?|mantid[oa]s?|adotad[oa]s?|aceptad[oa]s?|adoptad[oa]s?|adopté(?:e?s)?|conservé(?:e?s)?"),
    (
        Verdict.REJECT,
        r"rejeitad[oa]s?|descartad[oa]s?|revertid[oa]s?|removid[oa]s?|abandonad[oa]s?|rechazad[oa]s?|scartat[oa]|rifiutat[oa]|rejeté(?:e?s)?|abandonné(?:e?s)?|annulé(?:e?s)?",
    ),
    (Verdict.KEEP, r"accettat[oa]|mantenut[oa]|принято|оставлено|внедрено|채택(?:됨|함)?"),
    (Verdict.REJECT, r"отклонено|отвергнуто|откачено|отброшено|기각(?:됨|함)?|폐기(?:됨|함)?"),
    (Verdict.KEEP, r"已?(?:采纳|采用|合并|接受)|採用(?:済み?)?"),
    (Verdict.REJECT, r"已?(?:回滚|撤销|放弃|拒绝|弃用|否决|丢弃)|[不未](?:采纳|采用|合并)"),
    (Verdict.REJECT, r"不採用(?:確定)?|却下|棄却|見送り|撤回"),
    (Verdict.INVALID, r"崩溃|编译失败|超时"),
    (Verdict.INVALID, r"absturz|abgestürzt|abgebrochen|ungültig|fehler|zeitüberschreitung"),
    (Verdict.INCONCLUSIVE, r"inconclusive|undecided|unclear|neutral|mixed|tie|unentschieden|unklar"),
    (Verdict.NO_OP, r"no[- ]?op|identical|unchanged|^no (?:measurable )?change(?=\W|$)|identisch|unverändert|wirkungslos"),
)  # fmt: skip
OPEN = re.compile(r"\b(?:inconclusive|undecided|unclear|mixed|unentschieden|unklar)\b", re.IGNORECASE)
PATTERNS = tuple((verdict, re.compile(rf"\b(?:{words})\b", re.IGNORECASE)) for verdict, words in WORDS)
# Words for what was done, not for what was seen: a long text states its verdict with one of these.
DECIDED = re.compile(
    r"\b(?:keep(?! (?:in mind|an eye|track|going|trying)\b)|kept|retain(?:ed)?|accepted|adopted|merged|landed|shipped|deployed"
    rf"|committed|{MERGE}|{PROMOTE}|{APPLIED}|re-?enabled|reject(?:ed)?|discard(?:ed)?"
    r"|revert(?:ed)?|rolled back|backed out|abandoned|scrapped|demoted(?! (?:from|to)\b)|crash(?:ed)?"
    rf"|{GONE}|{KILL}"
    r"|dead[- ]end|dead(?=\s*(?:[:;,.]|$))|no[- ]go"
    r"|(?:do not|don.?t) (?:use|apply|add|adopt|merge|ship)"
    r"|(?:not|never) (?:kept|adopted|merged|landed|accepted|retained|shipped|committed|deployed)|not promoted"
    r"|behalten|beibehalten|übernommen|verworfen|abgelehnt|zurückgenommen"
    r"|已?(?:采纳|采用|合并|接受|回滚|撤销|放弃|拒绝|弃用|否决|丢弃)|[不未](?:采纳|采用|合并)|不?採用(?:確定)?|却下|棄却|見送り|撤回"
    r"|accettat[oa]|scartat[oa]|rifiutat[oa]|mantenut[oa]|принято|оставлено|внедрено|отклонено|отвергнуто|откачено|отброшено"
    r"|(?:채택|기각|폐기)(?:됨|함)?"
    r"|(?:aceit|adotad|rejeitad|descartad|revertid|removid|abandonad|aceptad|adoptad|rechazad)[oa]s?|(?:rejet|abandonn|adopt)é(?:e?s)?)\b",
    re.IGNORECASE,
)
RESULT_OF_TEST = re.compile(r"\b(?:fail|failed|error|crash|crashed|timeout)\b", re.IGNORECASE)
PASSED = re.compile(r"\W*(?:pass|passed|passes|ok|success|succeeded|completed?|done)\b", re.IGNORECASE)
MARKS = re.compile(r"[✓✔✅☑👍✗✘❌✖👎]")
# `✅ +3 %`, `✅ win` and `✅ (2 runs)` say that something was good; `✅ done` and `✅ exact` do not say that it was kept.
GOOD = re.compile(
    r"[\W\d_]*(?:$|[\d.,]+ ?(?:%|x|×)|\(|(?:[a-z]{1,3}/s|ms|us|µs|ns|s|x)\b)"
    r"|(?!.*\b(?:no|not|never|nicht|kein)\b).*\b(?:wins?|won|supported|confirmed|faster|gains?|better|best|improve\w*|speed-?up"
    r"|success\w*|helps?|helped|works?|worked|yes|new frontier|ja)\b|^\W*(?:成功|有效|提升|加速|采用)",
    re.IGNORECASE,
)
PENDING = re.compile(
    r"\b(?:todo|planned|pending|running|queued|wip|in progress|next|open|blocked|tbd|deferred|park(?:ed)?|proposed|untried"
    r"|needs follow-?up|geplant|läuft|offen|ausstehend|未着手|待定)\b|[🚧⏳⌛🔜]"
    r"|🔄(?=\W*(?:$|\d|(?:re-?)?(?:running|testing|measuring|in progress|doing|ongoing)\b))",
    re.IGNORECASE,
)
# A baseline is what changes are held against, and none itself.
BASELINE = re.compile(
    r"\W*(?:the |first |initial |stock |original )?(?:baseline|reference|ausgangsstand)\b[^,;]*", re.IGNORECASE
)
NAME = r"(?:kept|retained|accepted|adopted|merged|landed|shipped|committed|applied|reverted|rejected|discarded|dropped)\d*"
# `no regression`, and the names of builds: `old vs reverted`, `committed=3`
NO_FAULT = re.compile(
    r"(?<!-)\b(?:no|without|not a) (?:\w+ )?(?:regressions?|failures?|errors?|crash(?:es)?|drops?)\b"
    rf"|\b{NAME}(?=\s+(?:vs\b|versus\b)|=)|\b(?:vs\.?|versus)\s+{NAME}\b",
    re.IGNORECASE,
)
PARTS = re.compile(r"\s+[/+]\s+|\s*;\s*|(?<=^[A-Z]{4})/|(?<=^[A-Z]{6})/")
CLAUSE = re.compile(r"[;:.](?=\s|$)|,\s|[（），；：。]|\s[-–—]+\s|[–—]|[()\[\]]|\s*(?:→|->|=>)\s*")
# Words that may stand before the verdict in its clause.
LEAD = (
    r"(?:\W|\b(?:so|and|then|was|were|is|change|both|all|hence|therefore|thus|ultimately|finally|final|result|status"
    r"|abort|implemented|investigated|measured|ported|tested|tried|done)\b)*"
)
LATER = re.compile(
    r"\b(?:then|later|but|afterwards?|finally|eventually|subsequently|since|now|again|after|jedoch|dann|später)\b",
    re.IGNORECASE,
)
SUCCEEDED = re.compile(r"\b(?:success(?:ful)?|succeeded|passed|won)\b", re.IGNORECASE)
# `Rejected; keep the current default` keeps something else than the change.
KEEPS_OLD = re.compile(
    r"\W*(?:we )?(?:keep(?:s|ing)?|kept|retain(?:ed)?) (?:the )?(?:\w+ )?"
    r"(?:current|baseline|default|existing|old|original|previous|prior|present|simpler|before|reference|\d)",
    re.IGNORECASE,
)
# `Committed as 1a2b3c4, reverted in 5d6e7f8`: what was in the code is in it no more.
TAKEN_OUT = re.compile(
    r"(?:committed|landed|merged|shipped|deployed|applied)\b[^;:?]{0,40}[,;(–—-] ?(?:(?:and|then|but|later|was|were|since) )*"
    r"(?:reverted|rolled back|backed out)(?=\W*$|\W+(?:in|by|as|after|because|on|at|with|the (?:same|next))\b[^;]*$)",
    re.IGNORECASE,
)
# `Rejected. Do not promote it, or run it again`
FORBIDDEN = re.compile(r"(?<=[.;] )(?:do not|don.?t|never) [^.;]*", re.IGNORECASE)
# `Use half of it; reject the pure form` rejects something else than the change.
OF_ANOTHER = re.compile(
    r"(?:keep|retain|accept|adopt|merge|ship|promote|apply|reject|discard|revert|drop|kill)\s+"
    r"(?!(?:it|this|that|both|all|as|to|for|in|on|by|with|because|since|due|until|unless|if|and|or|now|only|again|change|idea"
    r"|the (?:change|idea|patch|experiment|candidate))\b)\w",
    re.IGNORECASE,
)
# `Instrumentation (temp only, reverted)`: what was taken back is what one measured with, and not the experiment.
TAKEN_BACK = r"(?:reverted|removed|rolled back|backed out|taken out|undone|dropped)"
MEANS = re.compile(
    r"\b(?:temp(?:orar(?:y|ily)|(?= only| code| instr))|debug(?:ging)?|instr(?:umentation|umented)?|throwaway"
    rf"|for (?:the|this) measurement)\b(?:[^;.]|\.(?=\w))*\b{TAKEN_BACK}\b"
    r"|^[\W\d_]*(?:(?:added|extra|some|the)\s+)?(?:instrumentation|debug\w*|tracing|logging|log lines|prints|(?:\w+ )?probes"
    rf"|counters|timers)\b(?!\s+(?:build|path|is|was)\b)(?:[^;.]|\.(?=\w))*\b{TAKEN_BACK}\b"
    rf"|\b{TAKEN_BACK} (?:before|after|once) (?:the )?(?:impl\w*|measur\w*|profil\w*|commit\w*)\b",
    re.IGNORECASE,
)
UNDONE = re.compile(r"\b(?:reverted|rolled back|backed out|discarded)\b", re.IGNORECASE)
# `Keep group 4` in the row of a sweep keeps what was there. In capitals, and before a word of place, it is a verdict.
KEEPS_OTHER = re.compile(
    r"[Kk]eep (?!it\b|this\b|change|as\b|for\b|behind\b|in\b|on\b|with\b|because\b|since\b|only\b"
    r"|baseline\b(?!\s+\w)|analysis|infra|config|enabled|new\b|if\b|pending|unless\b|until\b)-{0,2}\w"
    r"|[Kk]e(?:ep|pt) the (?:old|current|existing|original|previous|prior|baseline)\b"
    r"|[Kk]ept (?:as[- ](?:it )?(?:is|was)\b|\d+ (?:out )?of\b)"
)
# What is kept as a reference was not kept as a change.
KEPT_ASIDE = re.compile(
    r"(?:keep|kept|retained?) (?:only |just |merely )?(?:as|for) (?:an? |the )?(?:[\w-]+ ){0,2}?"
    r"(?:reference|record|oracle|evidence|scaffold|losing|documentation|experiment|negative|comparison|debugging|future|later|follow|histor|archiv|research)",
    re.IGNORECASE,
)
# A KEEP that broke something: both can't be right.
BROKE = re.compile(
    r"\b(?:caus(?:ed|es|ing)\b[^.;]{0,40}\b(?:collapse|crash|regression|loss|drop)|collapsed|catastroph\w+|disastrous)\b",
    re.IGNORECASE,
)
KEPT_ELSE = (KEEPS_OLD, KEEPS_OTHER, KEPT_ASIDE)
SEEN_ONLY = {Verdict.INCONCLUSIVE, Verdict.NO_OP}
# `retained frames` in a later clause is no verdict; `kept` and `kept for now` are.
NOT_OF_NOUN = re.compile(
    r"\W*$|\s+(?:by|in|for|as|on|with|and|because|it|this|only|behind|anyway|the|an?|its|all|both)\b", re.IGNORECASE
)
LEFT_OFF = re.compile(r"kept (?:off|out|disabled)", re.IGNORECASE)
JOINED = re.compile(r"[*`]*[A-Za-z]+(?:_[A-Za-z]+)+[*`]*", re.ASCII)
KINDS = (
    (Kind.ANALYSIS, re.compile(r"analy|ablation|diagnos|study", re.IGNORECASE)),
    (Kind.INFRA, re.compile(r"\binfra|tooling|harness|\bfix", re.IGNORECASE)),
    (Kind.CONFIG, re.compile(r"\bconfig|\bcfg\b|\btile\b|tuning", re.IGNORECASE)),
    (Kind.SIMPLIFY, re.compile(r"simplif|refine|clean-?up|refactor", re.IGNORECASE)),
)

# Words that make a verdict uncertain or negate it: `KEEP?`, `maybe keep`, `never reject`, `kept back`
RULED = "\0"
"""Placeholder for the words of a verdict in a text that is searched for hedges."""

PART_OF_CLAUSE = re.compile(
    r"[,;:.()\[\]/+|→]|->|=>|\s[-–—]+\s|\b(?:and|but|then|because|since|as|und|aber|dann|weil|da)\b", re.IGNORECASE
)
ANYWHERE = re.compile(
    r"""[?¿] | \b(?:maybe|perhaps|probably|possibly|presumably|supposedly|apparently|tentative(?:ly)?|provisional(?:ly)?
    |unsure|partial(?:ly)?|needs?\ (?:follow-?up|verification|testing)|unverified
    |pending|todo|tbd|tba|planned|queued|wip|in\ progress|to\ be
    |vielleicht|eventuell|evtl|wahrscheinlich|vermutlich|möglicherweise|vorläufig|ausstehend|geplant)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# These words count only in the verdict's clause: beyond a comma or a bracket they refer to something else.
BEFORE = re.compile(
    rf"""(?:\b(?:not|never|no|neither|nor|cannot|can|could|would|should|shall|might|may|must|will|wants?|wanted|to|if|unless
    |until|whether|almost|nearly|half|before|hardly|barely|likely|unlikely
    |nicht|nie|niemals|keine?|kann|könnte|würde|sollte|soll|muss|wird|falls|wenn|ob|fast|beinahe|wohl)\b | n['’´]t\b)
    [^{RULED}]*{RULED}""",
    re.IGNORECASE | re.VERBOSE,
)
AFTER = re.compile(
    rf"{RULED}(?:-candidate\b|\s+candidate\W*$)|{RULED}\s+(?:back|out|off|aside|away|later|if|unless|until|not|zurück|falls|wenn|nicht)\b",
    re.IGNORECASE,
)

# `Ship if correct` and `accept only with zero copies` are rules for a decision that nobody has made yet.
CONDITION = re.compile(rf"{RULED}[^{RULED}]*\b(?:if|unless|except|only (?:if|when|with|once))\b", re.IGNORECASE)
# `Kept: none`
NOTHING = re.compile(r"^\W*(?:none|nothing|nil)\W*$", re.IGNORECASE)


def is_hedged(text: str) -> bool:
    """Return whether the verdict in `text` is uncertain, pending or negated. `text` must have the placeholder RULED in place of
    the word for the verdict.
    """
    return bool(ANYWHERE.search(text)) or any(
        hedge.search(clause) for clause in PART_OF_CLAUSE.split(text) for hedge in (BEFORE, AFTER, CONDITION, NOTHING)
    )


OPENS_IF = re.compile(r"\W*(?:if|unless|until|wenn|falls)\b", re.IGNORECASE)


def opens_with_hedge(clause: str) -> bool:
    """Return whether `clause`, which follows that of a verdict, makes it uncertain: `maybe`, `pending a rerun`, `none`."""
    found = ANYWHERE.search(clause)
    return (
        bool(found and not clause[: found.start()].strip())
        or bool(found and len(clause.split()) <= 2)
        or bool(OPENS_IF.match(clause) or NOTHING.match(clause))
    )
