"""Laws that hold of every deployment, in words, and on how many they were tried."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from catalogue import ParamsError
from catalogue.messages import Pair, messages
from notebooks.pages.validation.quality.records import LAWS, Law, Tried, not_done, when
from notebooks.show.numbers import fmt_int

say = messages("pages/validation/quality/laws")

WORDS: dict[str, Pair] = {
    "a stay is its first token and the others": say("stay-is-its-tokens"),
    "users are rate times the time from a question to the next": say("little"),
    "users get no more tokens than decode steps alone would bring": say("no-more-than-decode"),
    "users bring no more prompts than full chunks without a pause":
        say("no-more-than-full-chunks"),
    "users are no faster than the front end lets them in": say("no-faster-than-front-end"),
    "requests have room exactly where the blocks hold them": say("room-where-blocks"),
    "what is needed and what is left are what is usable": say("needed-and-left"),
    "prompt and answer are paid as the request is and requests as the cards are":
        say("paid-as-cards"),
    "a day of tokens costs what the hours of its cards cost": say("day-of-tokens"),
    "prompts and answers share the cost as the card seconds that they take":
        say("share-by-card-seconds"),
    "in another currency every price is another number of the same amount":
        say("another-currency"),
    "in other units every result is another number of the same amount": say("other-units"),
    "a little more moves nothing by much": say("no-jumps"),
    "where every rate is without bound and nothing is paid besides no step takes time":
        say("no-time-at-no-bound"),
    "where every rate is without bound what is paid besides is left": say("paid-besides-is-left"),
    "from a storage without bound weights are there at once": say("unbounded-storage"),
    "a link without bound moves a cache in what is paid by the message": say("unbounded-link"),
    "of a prompt that is all in the cache its last token is computed": say("all-in-the-cache"),
    "of a prompt of which nothing is found all is computed": say("nothing-in-the-cache"),
    "drafts that are always accepted come all at once": say("always-accepted"),
    "an answer of one token ends with its first": say("one-token"),
    "who is alone sees in a steady state what a burst of one sees": say("alone"),
    "whoever thinks without end comes like somebody else": say("thinks-without-end"),
    "no step and no burst is worse for better parts": say("no-step-worse"),
    "no steady state is known to be worse for better parts": say("no-steady-state-worse"),
    "few steady states are worse at all for better parts": say("few-steady-states-worse"),
    "what is stored larger takes no less memory and leaves no more room": say("stored-larger"),
    "a larger card or a larger share of it leaves no less room": say("larger-card"),
    "longer contexts and more users take no less memory and leave no more room":
        say("longer-contexts"),
    "a longer prompt is no faster and no cheaper": say("longer-prompt"),
    "a longer answer is no faster and no cheaper": say("longer-answer"),
    "longer requests stay no shorter in a steady state": say("longer-requests"),
    "a prefix that is found in the cache makes nothing slower or dearer": say("found-prefix"),
    "a prefix that is found in the cache makes no stay longer": say("found-prefix-stay"),
    "of twice the users none is faster": say("twice-the-users"),
    "twice the users bring no less": say("twice-the-users-bring"),
    "in a steady state twice the users stay no shorter": say("twice-the-users-stay"),
    "in a steady state twice the users bring no less": say("twice-the-users-steady"),
    "time per token is near to that of a simulation": say("near-a-simulation")}
"""Law -> what it says; one that is held of several inputs stands here once."""

INEXACT: dict[str, Pair] = {
    "few steady states are worse at all for better parts": say("why-reversed"),
    "in a steady state twice the users bring no less": say("why-crowded"),
    "time per token is near to that of a simulation": say("why-near")}
"""Laws that the closed form is known to break for a share of deployments, which the tests hold; and
why."""


class Counted(NamedTuple):
    """A law with its counts, over all inputs of which it is held.

    Attributes:
        name: of the law.
        variants: of which it was held, such as inputs.
        tried, broken, left_out: deployments, as often as they were tried.
        dates: of the runs.
    """

    name: str
    variants: int
    tried: int
    broken: int
    left_out: int
    dates: tuple[str, ...]

    @property
    def share_left_out(self) -> float:
        """Of the deployments drawn [1]."""
        return self.left_out / max(1, self.tried + self.left_out)


def law_of(told: str) -> str:
    """The law of a line of the record, which may bear the input of which it was held behind it.

    Raises ParamsError for one that this page has no words for.

    >>> law_of("a little more moves nothing by much concurrency")
    'a little more moves nothing by much'
    """
    known = [name for name in WORDS if told == name or told.startswith(f"{name} ")]
    if not known:
        raise ParamsError(f"{LAWS.name}: the law '{told}' has no words, expected them in "
                          "notebooks/pages/validation/quality/laws.py.")
    return max(known, key=len)


def counted(record: Mapping[str, Law]) -> list[Counted]:
    """Laws by what broke them, then by what they say nothing of; the worst first."""
    groups: dict[str, list[Law]] = {}
    for told, law in record.items():
        groups.setdefault(law_of(told), []).append(law)
    found = [Counted(name, len(laws), sum(law.deployments for law in laws),
                     sum(law.broken for law in laws), sum(law.left_out for law in laws),
                     tuple(law.date for law in laws)) for name, laws in groups.items()]
    return sorted(found, key=lambda law: (-law.broken / max(1, law.tried), -law.share_left_out,
                                          law.name))


def tried(record: Mapping[str, Law] | None) -> Tried:
    """The line of the first table."""
    title, section = say("title"), "quality-laws"
    if not record:
        return not_done(title, section)
    found = counted(record)
    cases, broken = (sum(getattr(law, name) for law in found) for name in ("tried", "broken"))
    other = sum(law.broken for law in found if law.name not in INEXACT)
    return Tried(title, section, cases, broken,
                 say("amount", laws=fmt_int(len(found)), cases=fmt_int(cases)),
                 say("told", broken=fmt_int(broken), other=fmt_int(other)),
                 when(law.date for law in record.values()))
