"""The answer, the three views of it, what would run instead, and the variants of a file."""

from __future__ import annotations

import calc
import catalogue
from notebooks.pages.deployments import alternatives, card, families, spans, verdicts, views
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.sections import measurements
from notebooks.pages.deployments.sections.page import Page
from notebooks.show.display import draw, show, table
from notebooks.show.numbers import fmt_count, fmt_int, fmt_quantity, fmt_sig


def answer(page: Page) -> None:
    """Whether it fits, how fast it answers, and what a reader must know of it."""
    title = page.deployment.title
    if page.family.pools:
        show(*families.pools(page.family, *map(Deployed, page.family.pools)))
    _say(page.deployed,
         (f"*{title['en'][:1].upper()}{title['en'][1:]}.* ", f"**{title['zh']}**。")
         if page.several else ("", ""))
    if page.deployed.headroom < 0:  # what runs stands before the times of cards that nobody has
        card.instead(page.deployed)
        card.glance(page.deployed)
    else:
        card.glance(page.deployed)
        card.instead(page.deployed)
    card.move(page.deployed)
    show(*verdicts.told(page.deployed))
    if any(promise := alternatives.full(page.deployed)):
        show(*promise)
    _noted(page.deployed)
    if page.several:
        others = f"#{page.family.id}-family"
        show(f"This page shows that variant in full; [the others]({others}) follow.",
             f"本页完整列出这一变体，[其他变体]({others})见后。")
        if page.family.note:
            show(page.family.note["en"], page.family.note["zh"])


def _say(deployed: Deployed, name: tuple[str, str] = ("", "")) -> None:
    """A deployment's answer in one sentence, and what its file notes."""
    en, zh = verdicts.lead(deployed)
    show(f"{name[0]}{en}", f"{name[1]}{zh}")
    for reason in deployed.answer.reasons:
        if reason.kind == "dtype":
            show(reason.text["en"], reason.text["zh"])


def _noted(deployed: Deployed) -> None:
    if note := deployed.scenario.file.note:
        show(note["en"], note["zh"])


def documented_and_derived(page: Page) -> None:
    """The document beside ours, the model it states, and the formulas that go wrong."""
    show(*views.legend(views.three(page.deployed).columns, f"#{page.family.id}-inputs"))
    _three_views(page.deployed)
    _rate_and_pace(page)
    if (documented := page.deployment.documented) and documented.model:
        _stated_model(documented.model)
    wrong = views.differing(page.deployed)
    if wrong.rows:
        show("Where the document's formula is not ours, both, and the step that goes wrong:",
             "文档公式与本书不同之处，两式并列，并指出出错的一步：")
        table(wrong.rows, {"what": ("what goes wrong", "出错之处"),
                           "theirs": ("the document's formula", "文档的公式"),
                           "ours": ("the right one", "正确的公式")}, wide=True,
              folded=("The formulas, one beside the other", "两式对照"))
    if wrong.letters:
        table([{"letter": f"${latex}$", "name": names}
               for latex, names in sorted(wrong.letters.items())],
              {"letter": ("letter", "符号"), "name": ("name", "名称")},
              folded=("The letters", "符号"))


def _three_views(deployed: Deployed, brief: bool = False) -> None:
    """The table of the three views, what is absent, and the claims' notes."""
    three = views.three(deployed, brief)
    table(three.rows, three.columns, wide=True)
    if three.absent and not brief:
        show(*("\n".join(f"- {text[lang]}" for text in three.absent) for lang in range(2)))
    _notes(three.notes)


def _notes(notes: list[tuple[tuple[str, str], tuple[str, str]]]) -> None:
    if notes:
        show("\n".join(f"- *{label[0]}*: {note[0]}" for label, note in notes),
             "\n".join(f"- **{label[1]}**：{note[1]}" for label, note in notes))


def _rate_and_pace(page: Page) -> None:
    """The pace that a printed rate asks for, where it is faster than the estimate."""
    rates = [value for claim, value in zip(
        families.of(page.deployed, "output_throughput"),
        families.values(page.deployed, "output_throughput"), strict=True)
        if claim.value.kind != "measured"]
    pace, count = page.answers.get("tpot"), page.inputs["concurrency"]
    if rates and pace and count / min(rates) < pace.low:
        each, together = fmt_quantity(count / min(rates), "s"), fmt_quantity(min(rates), "token/s")
        show(f"To receive {together} together, each of the {fmt_int(count)} requests would need a "
             f"token every {each}. The estimate is {pace.text} ({pace.reach}).",
             f"{fmt_int(count)} 个请求若合计得到 {together}，每个请求就要每 {each} 得到一个 token；"
             f"而估计值为 {pace.text}（{pace.reach}）。")


def _stated_model(name: str) -> None:
    """How many parameters the shapes have that a document states, beside those it prints."""
    model = catalogue.load_model(name)
    total = calc.parameters(model)["total"]
    printed = model.published.total_parameters.value
    show("The document also describes a model of its own. Counted from the shapes it states, that "
         f"model has {fmt_count(total)} parameters, {fmt_sig(total / printed)} times the "
         f"{fmt_count(printed, 0)} that it prints; "
         "the derived column uses the published configuration instead.",
         f"文档还给出了一套自己的模型结构。按其所列形状计数，参数应为 {fmt_count(total)}，是"
         f"它所写 {fmt_count(printed, 0)} 的 {fmt_sig(total / printed)} 倍；“推导”一列"
         "改用官方配置。")


def what_would_run(page: Page) -> None:
    """What makes a deployment run that does not, as it was found by trying."""
    _instead(page.deployed)
    _searched(page.deployed)


def _searched(deployed: Deployed) -> None:
    """What is best on the same cards, whether it runs as written or not."""
    if found := alternatives.searched(deployed):
        tried = fmt_int(deployed.alternatives.tried)
        show(f"The most tokens per second for the same requests on the same cards, of {tried} "
             "deployments, all that divide model and cards, in every precision that the cards "
             "multiply:",
             f"同样的卡、同样的请求，枚举全部合法切分与支持的精度共 {tried} 个部署，"
             "每秒 token 数最高的是：")
        table(found, alternatives.columns(deployed, "kind"), wide=True,
              folded=("The best, with their intervals", "最优方案及其区间"))


def _instead(deployed: Deployed, brief: bool = False) -> None:
    if deployed.answer.fits:
        show("Memory and precision allow it as it is written.",
             "按所写配置，显存装得下，精度也支持。")
    elif changes := alternatives.rows(deployed):
        show("What would run:", "可以运行的改动：") if brief else show(
            "The runtime tried every valid cut of the same cards in every precision they multiply, "
            "shorter chunks, fewer requests, a shorter context, and more cards of the same kind. "
            "These changes run, the nearest first; where cards are added, it is the fewest on "
            "which the requested precision runs.",
            "本书程序枚举了同样这些卡的全部合法切分与该卡支持的各种精度、更短的预填充分块、"
            "更少的请求、更短的上下文，以及更多同型号的卡。"
            "以下改动可以运行，改动小者在前；增加卡数的一行，是按原精度运行所需的最少卡数。")
        table(changes, alternatives.columns(deployed), wide=True,
              folded=None if brief else ("Every change that was found", "找到的全部改动"))
    else:
        show("No change of cut, precision or number of cards was found to make it run.",
             "改变切分、精度或卡数，均未找到可以运行的方案。")


def all_variants(page: Page) -> None:
    """The deployments of a file side by side, and what a document prints of all together."""
    if not page.several:
        return
    table(families.rows(page.members, lambda member: (
        f"[{member.scenario.title['en']}](#{member.scenario.id})",
        f"[{member.scenario.title['zh']}](#{member.scenario.id})")),
        families.columns(page.members), wide=True)
    draw(spans.picture(page.members))
    whole = views.of_the_whole(page.family)
    if whole.rows:
        show("What the document prints for all of them together:", "文档对全部变体合计给出的数：")
        table(whole.rows, whole.columns, wide=True)
        _notes(whole.notes)


def variant(page: Page, identifier: str) -> None:
    """One of the other deployments of the file, in brief."""
    member = page.member(identifier)
    if member is page.deployed:
        show("The one that this page shows in full.", "即本页完整列出的部署。")
        return
    _say(member)
    card.move(member)
    _noted(member)
    _three_views(member, brief=True)
    measurements.rows_of(member)
    _instead(member, brief=True)
