"""What documents say of settings, scripts, features and engines, beside what is known of each."""

from __future__ import annotations

from collections.abc import Iterator

import catalogue
from catalogue.engines.engine import engine_names, load_engine
from catalogue.ledger.settings import Settings, Stated
from catalogue.reading.words import revealed
from notebooks.show.display import SECTIONS, cited, show, table
from notebooks.show.documents import link

Text = tuple[str, str]
STATES: dict[str, Text] = {
    "works": ("as stated", "如文所述"), "usual": ("no difference", "写不写都一样"),
    "unread": ("not read", "没有程序使用"), "stops": ("does not start", "无法启动"),
    "worse": ("worse than the default", "不如不写"), "misses": ("misses its purpose", "达不到目的"),
    "wrong": ("not so", "与事实不符"), "open": ("depends", "视情况")}
FAMILIES: dict[str, Text] = {"cuda": ("NVIDIA", "NVIDIA"), "rocm": ("AMD", "AMD"),
                             "cann": ("Ascend", "昇腾")}
YES: Text = ("yes", "支持")
NO: Text = ("no", "不支持")
NOTHING = "–"


def stated(subject: str) -> list[Stated]:
    """What documents say on a subject, an entry of ``params/settings/``."""
    settings: Settings = catalogue.load("settings", subject)
    return settings.settings


def counted(subject: str, *states: str) -> int:
    """How many of a subject are in one of these states."""
    return sum(each.state in states for each in stated(subject))


def stated_table(subject: str, folded: Text | None = None) -> None:
    """A row per setting: where it stands, what becomes of it, why.

    Args:
        subject: an entry of ``params/settings/``.
        folded: title under which the table is folded, if it is.
    """
    rows = [{"what": _called(each), "where": place(each), "state": STATES[each.state],
             "note": _noted(each)} for each in stated(subject)]
    table(rows, {"what": ("setting", "设置"), "where": ("where", "出处"),
                 "state": ("verdict", "结论"), "note": ("why", "说明")}, folded=folded)
    _sources(subject)


def feature_table() -> None:
    """Features that documents list, with what stands for each in the releases of vLLM."""
    engine = load_engine("vllm")
    newest = engine.versions[-1]
    rows = []
    for each in stated("features"):
        entries = [engine.lookup(revealed(name)) for name in each.entries]
        state = entries[-1].at(newest)
        given = None if state is None else state.default
        rows.append({
            "what": _called(each), "where": place(each),
            "entries": "<br>".join(
                f"`{entry.name}` {entry.since} – {entry.until or ''}".rstrip()
                for entry in entries),
            "default": NOTHING if given is None else f"`{given}`",
            "state": STATES[each.state], "note": _noted(each)})
    table(rows, {"what": ("feature", "特性"), "where": ("where", "出处"),
                 "entries": ("vLLM's name for it, since – until", "vLLM 中的名称，起 – 止"),
                 "default": (f"default in {newest}", f"{newest} 的默认值"),
                 "state": ("verdict", "结论"), "note": ("why", "说明")}, wide=True)


def runs_table() -> None:
    """Engines that documents name, on which cards they run, and what of them is known here."""
    rows = []
    for each in stated("engines"):
        row = {"what": _called(each), "where": place(each), "state": STATES[each.state],
               "note": _noted(each), **dict.fromkeys((*FAMILIES, "read", "ran"), NOTHING)}
        for name in each.entries:
            row |= _known(revealed(name))
        rows.append(row)
    table(rows, {"what": ("the document has", "文档所述"), "where": ("where", "出处"),
                 **FAMILIES,
                 "read": ("releases read", "已读取的版本"),
                 "ran": ("measured with a DeepSeek model on", "有 DeepSeek 模型实测的卡"),
                 "state": ("verdict", "结论"), "note": ("why", "说明")}, wide=True)


def _known(name: str) -> dict[str, str | Text]:
    """Cards, releases and measured cards of an engine that has a profile."""
    profile = catalogue.load("profiles", name)
    versions = (load_engine(profile.flags).versions if profile.flags in engine_names()
                else tuple(profile.releases))
    cards = sorted(set(_cards(name)))
    return {**{family: YES if family in profile.stacks else NO for family in FAMILIES},
            "read": f"{versions[0]} – {versions[-1]}",
            "ran": ", ".join(cards) or NOTHING}


def _cards(engine: str) -> Iterator[str]:
    """Cards on which a deployment under an engine was measured, with latent attention."""
    for name in catalogue.names("scenarios"):
        if not catalogue.stated(name, "measured"):
            continue
        made = catalogue.load_scenario(name)
        if (made.file.measured and (made.engine or "").partition("@")[0] == engine
                and made.model.attention == "mla"):
            yield made.device.name["en"]


def place(each: Stated) -> Text:
    """Document, section and line, and the claim where there is one."""
    sections = each.section.split(", ")
    document = each.document.upper()
    en, zh = (", ".join(SECTIONS.get(part, (part, part))[lang] for part in sections)
              for lang in range(2))
    claim = f"<br>{link(each.claim)}" if each.claim else ""
    return (f"{document} {en}, line {each.line}{claim}",
            f"{document} {zh} 节，第 {each.line} 行{claim}")


def _called(each: Stated) -> Text:
    """What it is called, with its value; a text of a file may stand in a tag, not in backticks."""
    value = "" if each.value is None else f"<br><code>{each.value}</code>"
    if each.name is not None:
        return (f"<code>{each.name}</code>{value}",) * 2
    assert each.what is not None
    return each.what["en"] + value, each.what["zh"] + value


def _noted(each: Stated) -> Text:
    return each.note["en"], each.note["zh"]


def _sources(subject: str) -> None:
    """What the settings of a subject were held against."""
    keys = dict.fromkeys(each.source for each in stated(subject) if each.source)
    if keys:
        show(f"Held against: {'; '.join(map(cited, keys))}.",
             f"对照：{'；'.join(map(cited, keys))}。")
