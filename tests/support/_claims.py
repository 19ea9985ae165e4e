"""Claims of a reader's own file, audited."""

import json

import catalogue
from calc.auditing.audit import Audit, audit
from calc.auditing.claims import listed_in

HEAD = "title: {en: t, zh: t}\ndocument: s1\ndefaults: {source: s1, kind: documented}\nclaims:\n"
WHAT = "what: {en: w, zh: w}, section: '1', line: 1"


def audit_claims(folder, *claims: str, quantities: dict | None = None) -> Audit:
    """Audit claims, written as flow mappings without braces, beside a file of quantities."""
    paths = [folder / kind / "mine.yml" for kind in ("claims", "quantities")]
    for path in paths:
        path.parent.mkdir(exist_ok=True)
    paths[0].write_text(HEAD + "".join(f"  - {{{claim}}}\n" for claim in claims), "utf-8")
    if quantities is None:
        return audit(listed_in(paths[:1]))
    paths[1].write_text(json.dumps({"title": {"en": "w", "zh": "w"}, **quantities}), "utf-8")
    return audit(listed_in(paths[:1]), files=[catalogue.load("quantities", str(paths[1]))])
