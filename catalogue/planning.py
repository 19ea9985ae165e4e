"""Goals and questions: a search's limits, axes and objectives."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Annotated, Any, Literal

from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    WithJsonSchema,
    model_validator,
)

from catalogue.engine import UNNAMED, engine_meant
from catalogue.entries.deployments import Agent, load_of_agent, turn_load
from catalogue.entries.entry import (
    MEAN,
    DeviceName,
    Entry,
    ModelName,
    NodeName,
    Plain,
    PrecisionName,
    PricesName,
    Problem,
    ScenarioName,
    Titled,
    by_percentile,
    given,
    number_as,
)
from catalogue.entries.models import DraftMethod
from catalogue.entries.operation import Ownership
from catalogue.reading.files import ParamsError
from catalogue.reading.units import TIME_PER_TOKEN, human, price_ends
from catalogue.reading.values import (
    MOST_IN_FLIGHT,
    Flag,
    Misplaced,
    Ref,
    Words,
    engine_name,
    si_number,
)

ANY = "any"  # device of the catalogue
MOST_CARDS = 1 << 14  # that are searched: more than any scale-up or rail-aligned fabric has
MOST_MEMORY = 1e14  # of a server [B], as ``catalogue.reading.values`` has it
OBJECTIVES: dict[str, int] = {
    "throughput_per_card": 1, "throughput": 1, "tpot": -1, "ttft": -1, "e2e": -1, "cards": -1,
    "cost": -1, "energy": -1, "power": -1, "context": 1}
"""What may be asked to be best: +1 to have it large, -1 to have it small."""
UNITS = {"throughput_per_card": "token/s", "throughput": "token/s", "tpot": "s", "ttft": "s",
         "e2e": "s", "energy": "J/token", "power": "W", "longest_context": "token"}
"""Of what a search finds of a deployment; a cost is in the currency of its goal."""
Objective = Literal["throughput_per_card", "throughput", "tpot", "ttft", "e2e", "cards", "cost",
                    "energy", "power", "context"]
USUAL_OBJECTIVES = ("throughput_per_card", "tpot", "ttft", "cost")
PUBLISHED = "published"  # weights: nothing may be lost
PERCENTILE = re.compile(r"p(\d{1,2}(?:\.\d{1,2})?)")


def percentile(name: str) -> float:
    """The share below a percentile [1].

    >>> percentile("p99.5")
    0.995

    Args:
        name: such as ``p90``.

    Raises ValueError for what is none.
    """
    match = PERCENTILE.fullmatch(name)
    if not match or float(match[1]) == 0:
        raise ValueError(f"'{name[:40]}' is no percentile, expected '{MEAN}', or p1 to p99.99 such "
                         "as p90")
    return float(match[1]) / 100


def _rising(times: dict[str, float]) -> dict[str, float]:
    """Times of which those of higher percentiles are no shorter."""
    stated = sorted((percentile(name), name) for name in times if name != MEAN)
    for (_, lower), (_, higher) in pairwise(stated):
        if times[higher] < times[lower]:
            least, most = human(times[lower], "s"), human(times[higher], "s")
            raise Misplaced(f"{most} is less than the {least} of {lower}, expected at least as "
                            "much: fewer requests take longer", higher)
    return times


def _percent(raw: Any) -> int:
    number = 100 * si_number(raw, Plain("1"))
    if not 1 <= number <= 100 or abs(number - round(number)) > 1e-9:
        raise ValueError(f"'{raw}' is out of range, expected 0.01 to 1 in whole percents")
    return round(number)


def _engine(written: str) -> str:
    name = str(engine_name(written))
    try:
        if name != UNNAMED:
            engine_meant(name)
    except ParamsError as error:
        raise ValueError(str(error).rstrip(".")) from None
    return name


EngineName = Annotated[str, AfterValidator(_engine)]
Points = Annotated[float | Literal["published"], BeforeValidator(
    lambda raw: raw if raw == PUBLISHED else si_number(
        re.sub(r"\s*points?$", "", raw.strip()) if isinstance(raw, str) else raw,
        Plain("1", exclusive=False)))]  # that a benchmark may lose, such as '1 point'; or none
Seconds = Annotated[float, Plain("s")]
SecondsPerToken = Annotated[float, Plain(TIME_PER_TOKEN)]
_OF_MEAN = BeforeValidator(lambda raw: times if isinstance(
    times := by_percentile(raw), dict) else {MEAN: times})
_TIMES = WithJsonSchema({"type": ["number", "string", "object"],
                         "description": "a mean time, such as '50 ms', or {p90: 2 s}"})
Times = Annotated[dict[str, Seconds], Field(min_length=1), AfterValidator(_rising), _OF_MEAN,
                  _TIMES]
TokenTimes = Annotated[dict[str, SecondsPerToken], Field(min_length=1), AfterValidator(_rising),
                       _OF_MEAN, _TIMES]
SecondsOrZero = Annotated[float, Plain("s", exclusive=False)]
WattsLimit = Annotated[float, Plain("W")]
Tokens = Annotated[int, Plain("token", integer=True)]
TokenRate = Annotated[float, Plain("token/s")]
RequestRate = Annotated[float, Plain("request/s")]
Users = Annotated[int, Plain("request", integer=True, maximum=MOST_IN_FLIGHT)]
Part = Annotated[float, Plain("1", exclusive=False, maximum=1)]
Percent = Annotated[int, BeforeValidator(_percent), WithJsonSchema({"type": ["number", "string"]})]
Ratio = Annotated[float, Plain("1", exclusive=False)]
MoneyLimit = Annotated[Ratio, BeforeValidator(lambda raw: _amount(raw))]


def _amount(raw: Any) -> Any:
    """An amount of money without its currency, which the goal has once."""
    if isinstance(raw, str) and (match := re.fullmatch(r"([\d.]+)\s*(USD|CNY)\b.*", raw)):
        raise ValueError(f"'{raw[:40]}' names a currency, expected a plain number: write "
                         f"{match[1]}, and currency: {match[2]}")
    return raw


def _money(unit: str, other: str = "") -> BeforeValidator:
    """Check a price; ``other`` is said of one that is by the hour, or that is not, unlike the unit.
    """
    def text(raw: Any) -> Any:
        if isinstance(raw, (int, float, str)):
            try:
                price_ends(str(raw), unit)
            except ValueError as error:
                is_other = ("/" in str(raw)) != ("/" in unit) and not str(raw).isdecimal()
                raise ValueError(f"{error}{other if is_other else ''}") from None
        return raw
    return BeforeValidator(text)


Capital = Annotated[Words, _money("USD", "; by the hour it is limits.rent")]
Rent = Annotated[Words, _money("USD/s", "; a sum that buys the cards is limits.budget")]
Hourly = Annotated[Words, _money("USD/s")]
Cards = Annotated[int, Plain("1", integer=True, maximum=MOST_CARDS)]
Degree = Annotated[int, Plain("1", integer=True)]
DegreeOrZero = Annotated[int, Plain("1", integer=True, exclusive=False)]
HostMemory = Annotated[float, Plain("B", exclusive=False, maximum=MOST_MEMORY),
                       BeforeValidator(lambda raw: "0 B" if raw in (0, "0") else raw)]
Degrees = Annotated[list[Degree], Field(min_length=1)]


class Offer(Entry):
    """Cards to choose from: of a device, in servers of a kind, in a range of numbers.

    Attributes:
        node: server that they stand in; absent, the one that the device's file names.
        price: of a card, ``2 USD/h`` or with both ends ``1.5..2.5 USD/h``; absent, that of the
            catalogue for the goal's ownership, if it has one.
    """

    device: DeviceName
    node: NodeName | None = None
    price: Hourly | None = None


class CardRange(Entry):
    """Fewest and most cards; absent, the most are as many as a budget buys or a power feeds."""

    model_config = ConfigDict(json_schema_extra={"type": ["object", "integer"]})

    fewest: Cards = 1
    most: Cards | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_number(cls, raw: Any) -> Any:
        return number_as("most", raw)

    def violations(self) -> Iterator[Problem]:
        """Fewest and most in their order."""
        if self.most is not None and self.fewest > self.most:
            yield f"'fewest' ({self.fewest}) exceeds 'most' ({self.most})", "fewest"


class Demand(Entry):
    """What users ask, and how many of them.

    ``users`` ask again ``think_time`` after an answer; requests of an ``arrival_rate`` come
    independently; with neither, the deployment is as full as it may be. All lengths in tokens,
    spread as in a scenario. From an ``agent`` follow lengths, ``prefix_hit_share`` and
    ``think_time``; ``users`` are then the agents at work.
    """

    agent: Agent | None = None
    input_tokens: Tokens
    output_tokens: Tokens
    context_tokens: Tokens | None = None
    length_distribution: Literal["constant", "exponential", "lognormal"] | None = None
    length_variation: Ratio | None = None
    users: Users | None = None
    think_time: SecondsOrZero | None = None
    arrival_rate: RequestRate | None = None
    arrivals: Literal["burst", "closed-loop", "poisson"] | None = None
    prefix_hit_share: Part = 0.0

    @property
    def longest(self) -> int:
        """Tokens of the longest request, as it is stated, or of the mean prompt and answer."""
        return int(self.context_tokens or self.input_tokens + self.output_tokens)

    @property
    def prefill_hit_share(self) -> float:
        """Share of prompts that a pool which only prefills has in its cache [1]: of agents their
        answers are with the pool that decodes, and engines send caches from prefill to decode."""
        if self.agent is None:
            return self.prefix_hit_share
        return turn_load(self.agent, answers_cached=False)["prefix_hit_share"]

    @model_validator(mode="before")
    @classmethod
    def _of_agent(cls, raw: Any) -> Any:
        return raw | load_of_agent(raw) if isinstance(raw, dict) else raw

    def violations(self) -> Iterator[Problem]:
        """Users, arrivals and lengths that contradict one another."""
        if self.agent is not None and self.users is None:
            yield "expected 'users' beside it: how many agents are at work", "agent"
        if self.users is not None and self.arrival_rate is not None:
            yield "expected 'users' or an 'arrival_rate', not both", "arrival_rate"
        if self.think_time is not None and self.users is None:
            yield "expected 'users' beside a 'think_time'", "think_time"
        if (self.length_distribution == "lognormal") != (self.length_variation is not None):
            yield ("'length_variation' and a lognormal length_distribution belong together, "
                   "expected both or neither")
        least = self.input_tokens + self.output_tokens
        if self.context_tokens is not None and self.context_tokens < least:
            yield f"expected at least input_tokens + output_tokens = {least}", "context_tokens"
        if self.arrivals is not None and (
                (self.arrivals == "poisson") != (self.arrival_rate is not None)):
            yield "'poisson' goes with an 'arrival_rate', the others without", "arrivals"


class Limits(Entry):
    """What must hold: times of users, at their mean or a percentile, and of the whole.

    Attributes:
        sure: in which share of draws from the ranges of all inputs the limits hold, at least [1];
            absent, they hold at the central values.
        ttft, tpot, e2e: at most [s]: a time is that of the mean, ``{p90: 2 s, p99: 5 s}`` those of
            percentiles of the requests.
        throughput: tokens of answers of the deployment, at least [token/s].
        cost: of a million tokens of answers, at most, in the currency of the prices.
        power: of the site for the deployment, at most [W].
        budget: capital at most, such as ``5000000 USD``; rent: of all cards at most, such as
            ``400 USD/h``.
        quality: what the worst benchmark of a format may lose against the published weights
            [points], such as ``1 point``, known from published scores; ``published``: those
            weights alone.
    """

    sure: Part | None = None
    ttft: Times | None = None
    tpot: TokenTimes | None = None
    e2e: Times | None = None
    throughput: TokenRate | None = None
    cost: MoneyLimit | None = None
    power: WattsLimit | None = None
    budget: Capital | None = None
    rent: Rent | None = None
    quality: Points | None = None

    def violations(self) -> Iterator[Problem]:
        """One is sure of a limit."""
        if self.sure is not None and not given(self, (
                "ttft", "tpot", "e2e", "throughput", "cost", "power")):
            yield "no limit is stated of which to be sure", "sure"

    @property
    def times(self) -> dict[str, dict[str, float]]:
        """Limits of times [s]: by quantity, by ``mean`` or percentile."""
        return {name: limits if isinstance(limits := getattr(self, name), dict) else {MEAN: limits}
                for name in given(self, ("ttft", "tpot", "e2e"))}


def _listed(raw: Any) -> Any:
    """A name, or several between commas, stand for a list."""
    return [part.strip() for part in raw.split(",")] if isinstance(raw, str) else raw


def _pools(raw: Any) -> Any:
    """One or two pools, or ``both``; whether they are two."""
    return ["two" if raw else "one"] if isinstance(raw, bool) else (
        ["one", "two"] if raw == "both" else _listed(raw))


class Space(Entry):
    """What is tried of each cut: an absent list is the usual one.

    Attributes:
        tensor, pipeline, data, expert: parallel sizes; absent, all that divide, of stages up to 4
            of whole servers, where their cards are joined faster than by PCIe.
        expert_slices: of each routed expert; absent, what tensor parallelism leaves.
        spares: redundant experts: ``none``, the ``fewest`` with which experts can be dealt out, or
            one more ``per-rank``; or a number of them. Absent, all three, the last only where
            experts are on several servers.
        decode_context: ranks over which the cache of a request is dealt; absent, all that divide
            the tensor-parallel size.
        prefill_context: whether prompts are dealt over tensor-parallel ranks, 0 or 1; absent, both
            where the engine has a switch for the model's attention and prompts are longer than what
            its indexer picks.
        any_format: whether formats are tried, where none are listed, in which no checkpoint of the
            model is known to be published.
        any_engine: whether layouts are tried that no engine of the catalogue starts.
        chunks: prompt tokens of a step [token].
        batches: requests in flight of a data-parallel rank, where nobody says how many users;
            absent, a grid of 8 per doubling up to what the memory holds.
        micro_batches: 2 is two micro-batches, one computing while the other exchanges; absent,
            where experts are on several servers.
        drafts: tokens that are drafted; absent, up to 3 by a model's own prediction layer, and as
            many as those who start it by a drafter apart from it.
        drafters: who drafts them: the model's ``own`` layer, or a drafter of its file; absent, all
            that the engine is shown to start.
        staged_groups: whether ranks that share experts may be cut into pipeline stages: near
            saturation the closed form of their steady state is too fast.
        staged_drafts: whether a model may draft in pipeline stages, which most engines do not do;
            absent, where the engine does in its release, and without one named if all do.
        pools: one pool that does both, or two that prefill and decode; absent, either.
        block_size: of the cache [token].
        memory_utilization: shares that the engine may use, in percent here [1].
        host_cache: memory of each server for caches that its cards have dropped [B], tried beside
            none where users think and the cards do not keep all of their prefixes; 0 alone: none.
            Absent, what the server's memory has left. Of one pool, under engines that keep such.
    """

    tensor: Degrees | None = None
    pipeline: Degrees | None = None
    data: Degrees | None = None
    expert: Degrees | None = None
    expert_slices: Degrees | None = None
    spares: list[Literal["none", "fewest", "per-rank"] | DegreeOrZero] | None = None
    decode_context: Degrees | None = None
    prefill_context: Annotated[list[Literal[0, 1]], Field(min_length=1)] | None = None
    any_format: Flag = False
    any_engine: Flag = False
    chunks: Degrees | None = None
    batches: Degrees | None = None
    micro_batches: list[Literal[1, 2]] | None = None
    drafts: list[DegreeOrZero] | None = None
    drafters: Annotated[list[DraftMethod | Literal["own"]], Field(min_length=1)] | None = None
    staged_groups: Flag = False
    staged_drafts: Flag | None = None
    pools: Annotated[list[Literal["one", "two"]], Field(min_length=1),
                     BeforeValidator(_pools)] = ["one", "two"]
    block_size: Tokens | None = None
    memory_utilization: Annotated[list[Percent], Field(min_length=1)] | None = None
    host_cache: Annotated[list[HostMemory], Field(min_length=1)] | None = None

    @model_validator(mode="before")
    @classmethod
    def _of_lists(cls, raw: Any) -> Any:
        if not isinstance(raw, (dict, cls)):
            raise ValueError("expected lists of what is tried: write {tensor: [4, 8]}, or remove "
                             "it")
        return raw


def _offers(raw: Any) -> Any:
    """Names stand for offers of a device."""
    if raw == ANY:
        return []
    if raw is None or raw == []:
        raise ValueError(f"no device is named, expected names or '{ANY}'")
    items = _listed(raw)
    return [{"device": item} if isinstance(item, str) else item
            for item in (items if isinstance(items, list) else [items])]


def _may_be_names(schema: dict[str, Any]) -> None:
    """A name may stand for a list of it, and for an offer of a device."""
    properties, name = schema["properties"], {"type": "string"}
    offers = properties["devices"]
    offers["items"] = {"anyOf": [name, offers["items"]]}
    for key in ("devices", "precisions", "engines", "objectives"):
        properties[key] = {"anyOf": [name, properties[key]]}


class Goal(Titled):
    """A goal: a file of ``params/goals/``, or a reader's own.

    Attributes:
        devices: offers; a name stands for an offer of it, ``any`` (none of them here) for every
            device of the catalogue that a server of it holds.
        precisions: absent, all that the device multiplies.
        engines: with a release if one is meant; absent, the newest of each whose flags are known;
            ``none`` names none, and overheads are averages over engines.
        objectives: what is best; deployments of which none is better in all are the front.
        ownership: how cards are had, for their price.
        currency: of costs.
    """

    model_config = ConfigDict(json_schema_extra=_may_be_names)

    model: ModelName
    devices: Annotated[list[Offer], BeforeValidator(_offers)]
    cards: CardRange = CardRange()
    demand: Demand
    limits: Limits = Limits()
    precisions: Annotated[list[PrecisionName] | None, BeforeValidator(_listed)] = None
    engines: Annotated[list[EngineName] | None, BeforeValidator(_listed)] = None
    objectives: Annotated[Annotated[list[Objective], Field(min_length=1)] | None,
                          BeforeValidator(_listed)] = None
    space: Space = Space()
    ownership: Ownership = "own"
    currency: Literal["USD", "CNY"] = "USD"

    def violations(self) -> Iterator[Problem]:
        """Something says how many cards there may be."""
        if self.cards.most is None and not given(self.limits, ("power", "budget", "rent")):
            yield "nothing bounds the cards, expected cards.most or limits.power, budget or rent"


LoadName = Annotated[str, Ref("loads")]


class Question(Titled):
    """A question that several pages answer, with the same number.

    Attributes:
        title: the question, in both languages.
        models: of which it is asked.
        scenario: deployment that it is asked of; absent, of any.
        engine: that serves it there, in its newest release if none is stated; absent, its own.
        demand: users and lengths, in a steady state.
        draft_tokens: tokens of a step that may be drafted by the model's own layer [token].
        memory_utilization: share of the memory that the engine may use [1].
        ownership: how cards are had.
        day: load whose busiest hour the cards are bought for: over the day they are used as much
            as its mean is of its peak.
        api: service whose price an owned deployment is held against.
    """

    models: Annotated[list[ModelName], Field(min_length=1)]
    scenario: ScenarioName | None = None
    engine: EngineName | None = None
    demand: Demand
    draft_tokens: Annotated[list[DegreeOrZero], Field(min_length=1)]
    memory_utilization: Part
    ownership: Ownership
    day: LoadName
    api: PricesName | None = None

    @property
    def users(self) -> int:
        """Users at once [request]."""
        assert self.demand.users is not None
        return self.demand.users

    @property
    def settings(self) -> list[str]:
        """The question's load and engine as overrides of a scenario, ``KEY=VALUE``."""
        demand = self.demand
        result = [f"workload.concurrency={self.users} request", "workload.arrivals=closed-loop",
                f"workload.input_tokens={demand.input_tokens} token",
                f"workload.output_tokens={demand.output_tokens} token"]
        if demand.length_distribution:
            result.append(f"workload.length_distribution={demand.length_distribution}")
        if demand.length_variation is not None:
            result.append(f"workload.length_variation={demand.length_variation}")
        if self.engine:
            result.append(f"engine={self.engine}")
        return result
