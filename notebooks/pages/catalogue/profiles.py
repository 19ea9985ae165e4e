"""What engines do to a deployment, release by release: the profiles as a table with sources."""

from __future__ import annotations

from collections.abc import Iterator

import catalogue
from catalogue.deployments.profiles import load_profile
from catalogue.entries.profiles import Profile, Statement
from catalogue.reading.values import Value
from notebooks.pages.catalogue.tables.mechanisms import labelled
from notebooks.show.display import Footnotes, table, written

Text = tuple[str, str]
SCHEDULING: Text = ("how a step is filled", "每步如何装填")
VALUES: dict[str, Text] = {"mixed": ("prompts and decodes together", "提示与解码同处一步"),
                           "prefill-first": ("prompts first", "先做预填充"),
                           "True": ("yes", "支持"), "False": ("no", "不支持")}
STAGED: Text = ("drafts in pipeline stages", "跨流水线级起草")
GRAPHS: Text = ("decode as a captured graph", "解码以捕获的图执行")
SWITCHED: dict[str, Text] = {"True": ("by default", "默认开启"),
                             "False": ("not by default", "默认关闭")}
DRAFTS: dict[bool, Text] = {True: ("with drafts", "起草时"), False: ("without drafts", "不起草时")}
ATTENTIONS: dict[str, Text] = {"mla": ("MLA", "MLA"), "gqa": ("GQA", "GQA"),
                               "sparse": ("sparse attention", "稀疏注意力")}
EXCHANGES: dict[str, Text] = {
    "low_latency": ("low-latency all-to-all", "低延迟 all-to-all"),
    "normal": ("all-to-all in normal mode", "normal 模式 all-to-all")}
FOLDED = ("Show the table; it can be sorted and filtered", "展开表格，可排序、筛选")


def profile_table() -> None:
    """Every statement of every profile: for which releases, cards and models, with its source."""
    notes = Footnotes()
    table([row for name in catalogue.names("profiles")
           for profile in [load_profile(name)] for row in _rows(profile, notes)],
          {"engine": ("engine", "引擎"), "releases": ("releases", "版本"),
           "holds": ("holds of", "适用"), "what": ("what", "内容"),
           "value": ("value (range)", "取值（范围）"), "source": ("source", "来源")},
          sortable=True, folded=FOLDED)
    notes.show(folded=("Where the values come from", "取值的来源"))


def _rows(profile: Profile, notes: Footnotes) -> Iterator[dict[str, Text | str]]:
    for statement in profile.statements:
        common: dict[str, Text | str] = {
            "engine": (profile.name["en"], profile.name["zh"]),
            "releases": _releases(profile, statement), "holds": _holds(statement)}
        ways = {SCHEDULING: statement.scheduling, STAGED: statement.staged_drafts,
                GRAPHS: statement.graphs}
        for what, chosen in ways.items():
            if chosen is not None:
                words = SWITCHED if what == GRAPHS else VALUES
                stated = Value(1, "1", str(chosen.value), chosen.source, chosen.kind, 1, 1,
                               chosen.date, note=chosen.note)
                yield common | {"what": what, "value": words[str(chosen.value)],
                                "source": notes.mark(stated)}
        known = catalogue.symbols()
        for key, flag in statement.flags.items():
            yield common | {"what": (known[key].en, known[key].zh),
                            "value": (f"default of `{flag}`", f"`{flag}` 的默认值"),
                            "source": ("tables below", "下文各表")}
        given = {key: value for key, value in statement.workload if value is not None}
        for label, value in labelled(given | statement.mechanisms):
            yield common | {"what": label, "value": written(value), "source": notes.mark(value)}


def _releases(profile: Profile, statement: Statement) -> Text:
    """First and last release, as far as either is stated."""
    since, until = statement.since or profile.since, statement.until
    if since and until:
        return f"{since} to {until}", f"{since} 至 {until}"
    if since:
        return f"from {since}", f"{since} 起"
    return (f"to {until}", f"至 {until}") if until else ("all", "全部")


def _holds(statement: Statement) -> Text:
    """Cards and models of which a statement speaks; of all: a dash."""
    cards = [catalogue.load("mechanisms", name).name for name in statement.cards]
    parts: list[Text] = [(name["en"], name["zh"]) for name in cards]
    if statement.attention is not None:
        parts.append(ATTENTIONS[statement.attention])
    if statement.drafts is not None:
        parts.append(DRAFTS[statement.drafts])
    if statement.exchange is not None:
        parts.append(EXCHANGES[statement.exchange])
    return ", ".join(en for en, _ in parts) or "–", "、".join(zh for _, zh in parts) or "–"
