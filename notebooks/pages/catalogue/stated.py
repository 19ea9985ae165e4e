"""What documents say of settings, scripts, features and engines, beside what is known of each."""

from __future__ import annotations

import pandas as pd

import catalogue
from catalogue.ledger import Settings, Stated
from catalogue.messages import Pair, join, pair
from notebooks.show.display import cited, markdown, section
from notebooks.show.documents import link
from notebooks.show.frames import show

STATES: dict[str, Pair] = {
    "works": ("as stated", "如文所述"), "usual": ("no difference", "写不写都一样"),
    "unread": ("takes no effect", "未生效"), "stops": ("does not start", "无法启动"),
    "worse": ("worse than the default", "不如不写"),
    "misses": ("misses its purpose", "达不到目的"),
    "wrong": ("not so", "与事实不符"), "open": ("depends", "视情况")}


def stated(subject: str) -> list[Stated]:
    """What documents say on a subject, an entry of ``params/settings/``."""
    settings: Settings = catalogue.load("settings", subject)
    return settings.settings


def state_count(subject: str, *states: str) -> int:
    """How many of a subject are in one of these states."""
    return sum(each.state in states for each in stated(subject))


def stated_table(subject: str, folded: Pair | None = None) -> None:
    """A row per setting: where it stands, what becomes of it, why; then the sources.

    Args:
        subject: an entry of ``params/settings/``.
        folded: title under which the table is folded, if it is.
    """
    settings = stated(subject)
    show(pd.DataFrame([{"setting": called(each), "where": place(each),
                        "verdict": STATES[each.state], "why": pair(each.note)}
                       for each in settings]), folded=folded or False, labels={
        "setting": ("setting", "设置"), "where": ("where", "出处"),
        "verdict": ("verdict", "结论"), "why": ("why", "说明")})
    sources = [cited(key) for key in dict.fromkeys(each.source for each in settings if each.source)]
    if sources:
        markdown(f"Checked against: {'; '.join(sources)}.", f"对照：{'；'.join(sources)}。")


def place(each: Stated) -> Pair:
    """Document, section and line, and the claim where there is one."""
    en, zh = join((", ", ", "), map(section, each.section.split(", ")))
    document, claim = each.document.upper(), f"<br>{link(each.claim)}" if each.claim else ""
    return (f"{document} {en}, line {each.line}{claim}",
            f"{document} {zh} 节，第 {each.line} 行{claim}")


def called(each: Stated) -> Pair:
    """What it is called, with its value; a text of a file may stand in a tag, not in backticks."""
    value = "" if each.value is None else f"<br><code>{each.value}</code>"
    if each.name is not None:
        return (f"<code>{each.name}</code>{value}",) * 2
    assert each.what is not None
    return each.what["en"] + value, each.what["zh"] + value
