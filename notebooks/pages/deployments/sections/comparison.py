"""The answer, the three views of it, what would run instead, and the variants of a file."""

from __future__ import annotations

import calc
import catalogue
from catalogue.deployments.admission import KERNEL
from catalogue.messages import messages
from notebooks.pages.deployments import alternatives, card, families, spans, verdicts, views
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.sections import measurements
from notebooks.pages.deployments.sections.page import Page
from notebooks.show.display import draw, markdown, table
from notebooks.show.numbers import fmt_count, fmt_int, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deployments/sections/comparison")


def answer(page: Page) -> None:
    """Whether it fits, how fast it answers, and what a reader must know of it."""
    title = page.deployment.title
    if page.family.pools:
        card.glance_of_pools(page.family.pools)
        markdown(*families.pools(page.family))
    _say(page.deployed, (f"*{title['en'][:1].upper()}{title['en'][1:]}.* ", f"**{title['zh']}**。")
         if page.several else ("", ""))
    if not page.deployed.has_room:  # what runs stands before the times of cards that nobody has
        card.instead(page.deployed)
    if not page.family.pools:
        card.glance(page.deployed)
    if page.deployed.has_room:
        card.instead(page.deployed)
    card.move(page.deployed)
    markdown(*verdicts.verdict_text(page.deployed))
    if any(promise := alternatives.full(page.deployed)):
        markdown(*promise)
    _noted(page.deployed)
    if page.several:
        others = f"#{page.family.id}-family"
        markdown(*say("this-page-shows-that-variant", others=others))
        if page.family.note:
            markdown(page.family.note["en"], page.family.note["zh"])


def _say(deployed: Deployed, name: tuple[str, str] = ("", "")) -> None:
    """A deployment's answer in one sentence, and what its file notes."""
    en, zh = verdicts.lead(deployed)
    markdown(f"{name[0]}{en}", f"{name[1]}{zh}")
    for reason in deployed.answer.reasons:
        if reason.kind == KERNEL:
            markdown(reason.text["en"], reason.text["zh"])


def _noted(deployed: Deployed) -> None:
    if note := deployed.scenario.file.note:
        markdown(note["en"], note["zh"])


def documented_and_derived(page: Page) -> None:
    """The document beside ours, the model it states, and the formulas that go wrong."""
    markdown(*views.legend(views.three(page.deployed).columns, f"#{page.family.id}-inputs"))
    _three_views(page.deployed)
    _rate_and_pace(page)
    if (documented := page.deployment.documented) and documented.model:
        _stated_model(documented.model)
    wrong = views.differing(page.deployed)
    if wrong.rows:
        markdown(*say("where-document-formula-is-not"))
        table(wrong.rows, {"what": say("what-goes-wrong"), "theirs": say("document-formula"),
                           "ours": say("right-one")}, wide=True,
              folded=say("formulas-one-beside-other"))
    if wrong.letters:
        table([{"letter": f"${latex}$", "name": names}
               for latex, names in sorted(wrong.letters.items())],
              {"letter": common("letter"), "name": common("name")}, folded=say("letters"))


def _three_views(deployed: Deployed, brief: bool = False) -> None:
    """The table of the three views, what is absent, and the claims' notes."""
    three = views.three(deployed, brief)
    table(three.rows, three.columns, wide=True)
    if three.absent and not brief:
        markdown(*("\n".join(f"- {text[lang]}" for text in three.absent) for lang in range(2)))
    _notes(three.notes)


def _notes(notes: list[tuple[tuple[str, str], tuple[str, str]]]) -> None:
    if notes:
        markdown("\n".join(f"- *{label[0]}*: {note[0]}" for label, note in notes),
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
        markdown(*say("to-receive-together-each-of", together=together, count=fmt_int(count),
                      each=each, pace=pace.text, reach=pace.reach))


def _stated_model(name: str) -> None:
    """How many parameters the shapes have that a document states, beside those it prints."""
    model = catalogue.load_model(name)
    total = calc.parameters(model)["total"]
    printed = model.published.total_parameters.value
    markdown(*say("document-also-describes-model-of", total=fmt_count(total),
              total2=fmt_sig(total / printed), printed=fmt_count(printed, 0)))


def what_would_run(page: Page) -> None:
    """What makes a deployment run that does not, as it was found by trying."""
    _instead(page.deployed)
    _searched(page.deployed)


def _searched(deployed: Deployed) -> None:
    """What is best on the same cards, whether it runs as written or not."""
    if found := alternatives.searched(deployed):
        tried = fmt_int(deployed.alternatives.tried)
        markdown(*say("most-tokens-per-second-for", tried=tried))
        table(found, alternatives.columns(deployed, "kind"), wide=True,
              folded=say("best-with-their-intervals"))


def _instead(deployed: Deployed, brief: bool = False) -> None:
    if deployed.answer.fits:
        markdown(*say("memory-and-precision-allow-it"))
    elif changes := alternatives.rows(deployed):
        markdown(*say("what-would-run")) if brief else markdown(
            *say("runtime-tried-every-valid-cut"))
        table(changes, alternatives.columns(deployed), wide=True,
              folded=None if brief else say("every-change-that-was-found"))
    else:
        markdown(*say("no-change-of-cut-precision"))


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
        markdown(*say("what-document-prints-for-all"))
        table(whole.rows, whole.columns, wide=True)
        _notes(whole.notes)


def variant(page: Page, identifier: str) -> None:
    """One of the other deployments of the file, in brief."""
    member = page.member(identifier)
    if member is page.deployed:
        markdown(*say("one-that-this-page-shows"))
        return
    _say(member)
    card.move(member)
    _noted(member)
    _three_views(member, brief=True)
    measurements.rows_of(member)
    _instead(member, brief=True)
