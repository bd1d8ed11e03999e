"""experiment.yaml as `expctl new` writes it."""

import json


def proposal_text(
    experiment: str, *, title: str, hypothesis: str, kind: str, mode: str, expect: str, precondition: str
) -> bytes:
    """The file's bytes. Words are written as JSON strings, which are YAML too, so that nothing in them acts."""
    words = {
        "id": experiment,
        "title": title or f"{experiment}: captured change",
        "kind": kind,
        "mode": mode or ("simplify" if kind == "simplify" else "gain"),
        "hypothesis": hypothesis or "not stated",
    }
    lines = [
        f"{key}: {value if key in ('id', 'kind', 'mode') else json.dumps(value, ensure_ascii=False)}"
        for key, value in words.items()
    ]
    lines += ["prediction:", f"  verdict: {expect}"]
    lines += [f"precondition: {json.dumps(precondition, ensure_ascii=False)}"] if precondition else []
    return ("\n".join(lines) + "\n").encode()
