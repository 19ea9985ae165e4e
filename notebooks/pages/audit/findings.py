"""What the documents' plans come to: which run, what runs instead, where an advantage ends."""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial

import calc
import catalogue
from calc.answer.nearest import Change
from calc.auditing.costs import PLAN, RUNS
from calc.auditing.truths import Deployment, deployment
from calc.layouts.feasible import HEADROOM, has_room, reasons
from calc.searching.alternatives import Advice, alternatives
from calc.searching.search import search
from calc.uncertainty import Amount
from catalogue import Scenario
from catalogue.deployments.admission import cut_of
from catalogue.deployments.cuts import written
from catalogue.deployments.loading import Family
from catalogue.ledger import Document, Recommended
from catalogue.messages import Pair, join, messages, pair
from notebooks.pages.deciding.cost_documents import hybrid
from notebooks.pages.deployments.alternatives import in_words
from notebooks.pages.deployments.answers import Deployed
from notebooks.pages.deployments.card import command
from notebooks.pages.derivations.diagrams import goals
from notebooks.show.display import figure, in_dropdown, markdown, number, numbers, table
from notebooks.show.numbers import fmt_bytes, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/audit/findings")

LEAST = "r1-910b2-least"  # goal: the fewest 910B2 that run
ADDED = ("s0-cards",)  # cards that a document compares, on which this book puts a deployment
USERS = (80, 320)  # of plan C: of the whole, and of each of its four replicas
WANTED = "output_throughput"
OPEN_ROWS = 8  # of a long table, not folded


def plans_of(document: str) -> Iterator[tuple[Family, Scenario]]:
    """Every deployment that a document describes, variants and pools apart, with its file."""
    for name in catalogue.names("scenarios"):
        if name not in ADDED and name.startswith(document):
            family = catalogue.load_family(name)
            yield from ((family, plan) for plan in family.deployments)


def running(document: Document) -> list[Pair]:
    """A sentence on each deployment that a document recommends or measured: whether it runs."""
    return [_running(*each) for each in recommended(document)]


def _running(each: Recommended, family: Family, plan: Scenario) -> Pair:
    """Whether a recommended deployment runs, by how much it is short, and what runs instead."""
    found = deployment(plan.id)
    titles = (f"[**{_in_short(family, plan, lang)}**](#{plan.id})" for lang in ("en", "zh"))
    title = (next(titles), next(titles))
    if found.fits:
        spare = fmt_bytes(float(found.quantities[HEADROOM]), digits=0)
        return say("recommended-runs", plan=title, section=each.section, measured=each.measured,
                   spare=spare)
    return say("recommended-does-not-run", plan=title, section=each.section,
               measured=each.measured, why=_why(found), instead=_instead(plan))


def _instead(plan: Scenario) -> Pair:
    """The nearest change that runs and what it gives, beside what is printed."""
    answer = estimated(plan.id)
    if answer.nearest is None:
        return say("nothing-found-sentence")
    deployed, stated = Deployed(plan), _printed(plan)
    told = _told(deployed, answer.nearest.settings)
    users = answer.nearest.settings.get("workload.concurrency", plan.inputs()["concurrency"])
    nearest = say("it-runs-with-change", change=_changed(deployed, answer.nearest), printed=stated,
                  users=int(users),
                  given={WANTED, "tpot"} <= told.keys(), compared=stated != "–",
                  rate=fmt_quantity(told.get(WANTED, 0.0), "token/s"),
                  pace=fmt_quantity(told.get("tpot", 0.0), "s"))
    return join((" ", ""), [nearest, _fastest()]) if plan.id == PLAN else nearest


def _fastest() -> Pair:
    """What plan C's cards give its users in the layout that every page takes for it."""
    users = USERS[0]
    plan = catalogue.load_scenario(PLAN, overrides=list(RUNS))
    lengths = plan.inputs()
    return say("best-of-its-cards", layout=pair(written(cut_of(plan))), users=users,
               prompt=int(lengths["input_tokens"]), answer=int(lengths["output_tokens"]),
               rate=fmt_quantity(_steady(users, "steady_throughput").value, "token/s"))


def _in_short(family: Family, plan: Scenario, lang: str) -> str:
    """The title of a plan; of a pool with what its file's title begins with, ``S0 scenario 3``."""
    if len(family.deployments) == 1:
        return plan.title[lang]
    colon, comma = (":", ", ") if lang == "en" else ("：", "，")
    return f"{family.title[lang].partition(colon)[0]}{comma}{plan.title[lang]}"


def _told(deployed: Deployed, settings: Mapping[str, str | int]) -> dict[str, float]:
    """What a plan gives with other settings: the medians that its own page shows."""
    answers = deployed.changed(settings).answers
    return {name: answer.value for name, answer in answers.items()}


def _spared(deployed: Deployed, change: Change) -> Pair:
    """A change that runs, with the memory that it leaves."""
    spare = fmt_bytes(deployed.changed(change.settings).headroom)
    return say("change-with-spare", change=_changed(deployed, change), spare=spare)


def _changed(deployed: Deployed, change: Change) -> Pair:
    """What a change changes, in words."""
    return in_words(deployed, change.settings, 0), in_words(deployed, change.settings, 1)


def of_all(document: Document) -> Pair:
    """How many deployments load, those that a document only supposes apart."""
    plans = list(plans_of(document.id))
    loads = [family.id in document.supposed for family, plan in plans
             if deployment(plan.id).fits]
    supposed = sum(family.id in document.supposed for family, _ in plans)
    return say("of-all-deployments", plans=len(plans) - supposed, loads=loads.count(False),
               variants=supposed, supposed=loads.count(True))


def recommended(document: Document) -> list[tuple[Recommended, Family, Scenario]]:
    """What a document recommends or measured, in its order, every pool apart."""
    plans = list(plans_of(document.id))
    return [(each, family, plan) for each in document.recommended for family, plan in plans
            if each.scenario in (family.id, plan.id)]


@functools.cache
def estimated(plan: str) -> calc.Estimate:
    """A plan's answer, once for a page."""
    return calc.estimate(deployment(plan).scenario)


def _why(found: Deployment) -> Pair:
    """Why a deployment does not run: how much a card is short, else the engine's reason."""
    if not has_room(found.quantities):
        short = fmt_bytes(-float(found.quantities[HEADROOM]), digits=0)
        return say("each-card-is-short", short=short)
    en, zh = pair(reasons(found.scenario, found.quantities)[0].text)
    return en.rstrip("."), zh.rstrip("。")


def sentences() -> None:
    """Glue the numbers of what the findings say."""
    _s0()
    _s1()
    _s3()


def _s0() -> None:
    plans = {plan.id: plan for _, plan in plans_of("s0")}
    found = [deployment(name) for name in plans]
    numbers({"a-s0-plans": len(found), "a-s0-run": sum(each.fits for each in found)})
    short = [-float(each.quantities[HEADROOM]) for each in found
             if not has_room(each.quantities)]
    numbers({"a-s0-short-least": min(short), "a-s0-short-most": max(short)}, fmt_bytes, digits=0)
    rows = search(catalogue.load("goals", LEAST))
    best = rows.row(rows.front.rows, 0)
    numbers({"a-s0-users": best.choice.concurrency, "a-s0-cards": best.choice.devices})
    weights = catalogue.load_precision(best.choice.precision).name["en"]
    number("a-s0-precision", weights.partition(",")[0], str)  # W4A8, the same in both languages
    without = replace(best.choice, spares=0)
    number("a-s0-layout", without.layouts["en"], str)  # of one server: the same in both languages
    number("a-s0-spares", best.choice.spares)
    number("a-s0-pace", best.quantities["tpot"], fmt_quantity, unit="s")
    fewest = [change.devices for change in calc.estimate(plans["s0-scenario-1"]).changes
              if "precision" not in change.settings]
    number("a-s0-own", min(fewest))


@functools.cache
def _runs(users: int) -> calc.Estimate:
    """Plan C as it can run, with so many users."""
    overrides = [*RUNS, f"workload.concurrency={users} request"]
    return calc.estimate(catalogue.load_scenario(PLAN, overrides=overrides))


def _steady(users: int, name: str) -> Amount:
    return _runs(users).quantities[name]


def _s1() -> None:
    asked = deployment(PLAN)
    documented = asked.scenario.documented
    claims = [claim for claim in (documented.claims if documented else ())
              if claim.quantity == WANTED]
    claimed = [claim.value.value for claim in claims if claim.bound is None][-1]
    number("a-s1-claimed", claimed, fmt_quantity, unit="token/s")
    number("a-s1-short", -float(asked.quantities[HEADROOM]), fmt_bytes, digits=0)
    for users in USERS:
        rate, pace = _steady(users, "steady_throughput"), _steady(users, "steady_tpot")
        number(f"a-s1-users-{users}", users)
        number(f"a-s1-rate-{users}", rate.value, fmt_quantity, unit="token/s")
        number(f"a-s1-rate-{users}-most", rate.high, fmt_quantity, unit="token/s")
        number(f"a-s1-pace-{users}", pace.value, fmt_quantity, unit="s")
    aim = next(claim.value.value for claim in claims if claim.bound == "at_least")
    number("a-s1-aim", aim, fmt_quantity, unit="token/s")
    number("a-s1-needed", USERS[0] / aim, fmt_quantity, unit="s")
    floor = float(_runs(USERS[0]).everything["tpot_floor"])
    number("a-s1-floor", floor, fmt_quantity, unit="s")
    number("a-s1-over", floor * aim / USERS[0], fmt_sig, digits=2)
    _drawn(aim, next(claim.value for claim in (documented.claims if documented else ())
                     if claim.quantity == "tpot" and claim.bound == "at_most"))


def _drawn(aim: float, limit: catalogue.Value) -> None:
    """The goal of S1 [token/s] beside what its users at their limit, and its cards, give."""
    users = USERS[0]
    law = say("users-at-exactly-any-hardware", users=users, limit=limit.written)
    runs = [(say("users-on-cards-of-document", users=count),
             _steady(count, "steady_throughput").value) for count in USERS]
    figure("a-s1-goal", partial(goals.draw, [
        (say("goal-of-s1-for-users", users=users), aim), (law, users / limit.value), *runs]))


def _s3() -> None:
    made = hybrid()
    numbers({"a-s3-alone": made.alone[0], "a-s3-most": made.most[0],
             "a-s3-eight": made.most[1]}, fmt_quantity, unit="token/s")
    numbers({"a-s3-even": made.break_even, "a-s3-host": made.host.value}, fmt_sig, digits=2)
    two_each, eight_each = (most / cards
                            for most, cards in zip(made.most, made.cards, strict=True))
    number("a-s3-share", two_each / eight_each, fmt_percent, digits=0)


def instead(document: str) -> None:
    """Each plan of a document: whether it runs, the nearest change that does, the best there is."""
    rows, lines = [], []
    for family, plan in _recommended_first(catalogue.load("documents", document)):
        if plan.documented is None:
            continue
        answer = estimated(plan.id)
        change, best, deployed = answer.nearest, searched(plan), Deployed(plan)
        rows.append({
            "plan": tuple(f"[{_named(family, plan, lang)}](#{plan.id})" for lang in ("en", "zh")),
            "runs": say("yes") if answer.fits else say("no"), "printed": _printed(plan),
            "instead": say("as-written") if answer.fits else
            _spared(deployed, change) if change else say("nothing-found"),
            "gives": _gives(_told(deployed, change.settings if change else {})),
            "best": _best(deployed, best),
            "best_gives": _gives(_told(deployed, best.settings)) if best else "–"})
        if best:
            lines.append(command(deployed, best.settings))
    if rows:
        table(rows, {"plan": common("plan"), "runs": say("runs-as-written"),
                     "printed": say("throughput-printed"),
                     "instead": say("nearest-change-that-runs"), "gives": say("gives-tpot"),
                     "best": say("best-of-search"), "best_gives": say("gives-tpot")}, wide=True,
              folded=say("every-other-plan"), first=OPEN_ROWS)
    if lines:
        block = "```bash\n{}\n```".format("\n".join(lines))
        markdown(*in_dropdown([block, block], say("command-of-each-that-search")))


def _recommended_first(document: Document) -> list[tuple[Family, Scenario]]:
    """Every deployment: what the document recommends, what else it puts forward, what it only
    supposes."""
    first = {plan.id for _, _, plan in recommended(document)}
    return sorted(plans_of(document.id), key=lambda each: (
        each[0].id in document.supposed, each[1].id not in first))


def searched(plan: Scenario) -> Advice | None:
    """The most output for a plan's own requests on its own cards; None where it states no goal.

    It is the best in the published weights where the cards multiply these, for then nothing is
    lost of the model, else the best in any precision.

    Args:
        plan: of a document; one that prints no throughput has no goal.
    """
    claims = plan.documented.claims if plan.documented else []
    if all(claim.quantity != WANTED for claim in claims):
        return None
    found = alternatives(plan)
    return found.official or found.best


def _best(deployed: Deployed, best: Advice | None) -> str | Pair:
    """What a search found for a plan, in words."""
    if best is None:
        return "–"
    as_written = say("as-written")
    return (in_words(deployed, best.settings, 0) or as_written[0],
            in_words(deployed, best.settings, 1) or as_written[1])


def _gives(told: Mapping[str, float]) -> str | Pair:
    """Throughput and time per token of a deployment, as far as it has them."""
    found = [fmt_quantity(told[name], unit)
             for name, unit in ((WANTED, "token/s"), ("tpot", "s")) if name in told]
    return ("; ".join(found), "；".join(found)) if found else "–"


def _named(family: Family, plan: Scenario, lang: str) -> str:
    """The title of a plan, of a variant behind that of its file."""
    if len(family.deployments) == 1:
        return plan.title[lang]
    return f"{family.title[lang]}{': ' if lang == 'en' else '：'}{plan.title[lang]}"


def _printed(plan: Scenario) -> str:
    """What a document prints last of a plan's throughput."""
    claims = plan.documented.claims if plan.documented else []
    found = [claim.value.value for claim in claims if claim.quantity == WANTED
             and claim.of == "deployment"]
    return fmt_quantity(found[-1], "token/s") if found else "–"
