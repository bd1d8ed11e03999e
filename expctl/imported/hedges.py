"""Recognise words that make a verdict uncertain or negate it: `KEEP?`, `maybe keep`, `never reject`, `kept back`."""

import re

RULED = "\0"
"""Placeholder for the words of a verdict in a text that is searched for hedges."""

CLAUSE = re.compile(
    r"[,;:.()\[\]/+|→]|->|=>|\s[-–—]+\s|\b(?:and|but|then|because|since|as|und|aber|dann|weil|da)\b", re.IGNORECASE
)
ANYWHERE = re.compile(
    r"""[?¿] | \b(?:maybe|perhaps|probably|possibly|presumably|supposedly|apparently|tentative(?:ly)?|provisional(?:ly)?
    |unsure|partial(?:ly)?|needs?\ follow-?up|pending|todo|tbd|tba|planned|queued|wip|in\ progress|to\ be
    |vielleicht|eventuell|evtl|wahrscheinlich|vermutlich|möglicherweise|vorläufig|ausstehend|geplant)\b""",
    re.IGNORECASE | re.VERBOSE,
)
# These words count only in the verdict's clause: beyond a comma or a bracket they refer to something else.
BEFORE = re.compile(
    rf"""(?:\b(?:not|never|no|neither|nor|cannot|can|could|would|should|shall|might|may|must|will|wants?|wanted|to|if|unless
    |until|whether|almost|nearly|hardly|barely|likely|unlikely
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


def is_hedged(text: str) -> bool:
    """Return whether the verdict in `text` is uncertain, pending or negated. `text` must have the placeholder RULED in place of
    the word for the verdict.
    """
    return bool(ANYWHERE.search(text)) or any(
        hedge.search(clause) for clause in CLAUSE.split(text) for hedge in (BEFORE, AFTER, CONDITION)
    )


OPENS_IF = re.compile(r"\W*(?:if|unless|until|wenn|falls)\b", re.IGNORECASE)


def opens_with_hedge(clause: str) -> bool:
    """Return whether `clause`, which follows that of a verdict, makes it uncertain: `maybe`, `tbd`, `pending a rerun`."""
    found = ANYWHERE.search(clause)
    return (
        bool(found and not clause[: found.start()].strip())
        or bool(found and len(clause.split()) <= 2)
        or bool(OPENS_IF.match(clause))
    )
