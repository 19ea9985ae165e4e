"""The matrix: which card holds a model in which precision for how many users, and how fast."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import matplotlib as mpl
from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

import catalogue
from calc.launching.starting import start
from calc.layouts.space import Space
from calc.searching.goal import load_goal
from calc.searching.ranking import SampledRow, sample_rows
from calc.searching.search import search
from calc.searching.selection import Selection
from catalogue.messages import LANGUAGES, Pair, join, messages
from catalogue.planning import CardRange, Goal
from notebooks.pages.deciding.goals import cards, device_label, plan, so_many
from notebooks.show import figures
from notebooks.show.columns import Column
from notebooks.show.display import download, figure, markdown, number, numbers, table
from notebooks.show.numbers import fmt_fixed, fmt_sig, fmt_time

common = messages("common")
say = messages("pages/deciding/matrix")

GOAL = "r1-matrix"
MOST_ASKED = 24  # of the fastest deployments, whether a release starts them
USERS = (1, 8, 64, 256)
DRAWN = 64  # users of the picture
MILLI = 1e3
SHADES = 0.05, 0.6  # of the colour map: what is written on them stays legible
PUBLISHED = "fp8-block"
WIDENING = "ascend-910b2"  # a card on which weights of some formats are widened through the cache


@dataclass(frozen=True)
class Cell:
    """A device in a precision for so many users.

    Attributes:
        device, precision: entries of the catalogue.
        users: at once.
        best: on the fewest whole servers that a release of an engine starts it on, the fastest;
            None where no number of cards holds it.
        currency: of its cost.
        engine: the release that starts it; empty where nothing does.
    """

    device: str
    precision: str
    users: int
    best: SampledRow | None
    currency: str
    engine: str = ""

    @property
    def servers(self) -> int:
        """Servers that it takes [1]; none where nothing holds it."""
        return self.best.row.choice.nodes if self.best else 0

    @property
    def pace(self) -> float:
        """Its time per token [s]."""
        assert self.best is not None
        return float(self.best.amounts["tpot"].value)


def cells(users: Sequence[int] = USERS, settings: Sequence[str] = ()) -> list[Cell]:
    """Every device of the goal in each precision that it multiplies, for each number of users.

    Args:
        users: numbers of users.
        settings: of the goal, as ``--set`` takes them.
    """
    goal = load_goal(GOAL, settings)
    return [cell for size, device in _sized(goal) for precision in goal.precisions or ()
            for cell in _asked(size, [*settings, f"devices={device}", f"precisions={precision}"],
                               sorted(users))]


def cells_of(device: str, precisions: Iterable[str], users: Sequence[int] = USERS,
             settings: Sequence[str] = ()) -> list[Cell]:
    """One device in some precisions, of those that it has kernels for; as ``cells``."""
    size = _per_node(device)
    return [cell for precision in precisions for cell in _asked(
        size, [*settings, f"devices={device}", f"precisions={precision}"], sorted(users))]


def cell_on(device: str, precision: str, users: int, devices: int) -> Cell:
    """One device in one precision for so many users, on so many cards or the fewest beyond.

    Raises StopIteration for a precision that the device does not multiply.
    """
    return next(_asked(devices, [f"devices={device}", f"precisions={precision}"], [users]))


def _per_node(device: str) -> int:
    """Cards of a server of a device [1]."""
    entry = catalogue.load_device(device)
    assert entry.node
    return int(catalogue.load_node(entry.node).devices_per_node.value)


def _sized(goal: Goal) -> Iterator[tuple[int, str]]:
    """Devices with the cards of their servers, which are taken whole; those of one size together.
    """
    sizes: dict[int, list[str]] = {}
    for offer in Space(goal).offers:
        sizes.setdefault(_per_node(offer.device), []).append(offer.device)
    yield from ((size, device) for size, devices in sizes.items() for device in devices)


def _asked(size: int, settings: Sequence[str], users: Sequence[int]) -> Iterator[Cell]:
    """A device in a precision: one server first, then up to twice as many again for the rest.

    Nothing of one that the device does not multiply.
    """
    goal = load_goal(GOAL, settings)
    assert goal.cards.most
    if not (bases := Space(goal).bases()):
        return
    best: dict[int, Started] = {}
    fewest, most = size, size
    while fewest <= goal.cards.most and len(best) < len(users):
        tried = CardRange.model_construct(fewest=fewest, most=min(most, goal.cards.most))
        space = Space(goal.model_copy(update={"cards": tried}))
        for count in users:
            if count not in best and (found := _fastest(space, count)):
                best[count] = found
        fewest, most = most + 1, 2 * most
    yield from (Cell(bases[0].device, bases[0].precision, count, *(
        (found.best, goal.currency, found.engine) if (found := best.get(count))
        else (None, goal.currency))) for count in users)


class Started(NamedTuple):
    """A deployment and the release that starts it."""

    best: SampledRow
    engine: str


def _fastest(space: Space, users: int) -> Started | None:
    """On the fewest cards the fastest for so many users that a release starts, if any does."""
    demand = space.goal.demand.model_copy(update={"users": users})
    found = search(space.goal.model_copy(update={"demand": demand}), space=space)
    if not found.rows(found.front, 1):
        return None
    answer = Selection(found, 1, start)
    row = next((row for row in answer.candidates[:MOST_ASKED] if answer.offers(row)), None)
    own = None
    if row is not None:
        told = answer.start(row)
        own = Started(sample_rows(found, [row])[0], (told and told.engine) or "")
    if space.goal.space.decode_context or row is answer.candidates[0]:
        return own
    # what is best shards its cache as no engine does on these cards: the same without
    whole = space.goal.space.model_copy(update={"decode_context": [1]})
    other = _fastest(Space(space.goal.model_copy(update={"space": whole})), users)
    return min([each for each in (own, other) if each], default=None, key=lambda each: (
        each.best.row.devices, each.best.row.quantities["tpot"]))


def answer(matrix: Sequence[Cell]) -> None:
    """What fits on one server, in general and in the published weights; the fastest of it."""
    goal = load_goal(GOAL)
    asked = [cell for cell in matrix if cell.users == DRAWN]
    single = [cell for cell in asked if cell.servers == 1]
    numbers({"matrix-input": goal.demand.input_tokens, "matrix-output": goal.demand.output_tokens,
             "matrix-most": goal.cards.most, "matrix-users": DRAWN})
    _four_bits({cell.precision: cell for cell in asked if cell.device == WIDENING})
    fastest = min(single, key=lambda cell: cell.pace)
    assert fastest.best
    choice = fastest.best.row.choice
    published = [device_label(cell.device) for cell in single if cell.precision == PUBLISHED]
    markdown(*say("with-published-fp8-weights-one", pace=fmt_time(fastest.pace), users=DRAWN,
              choice=cards(choice), plan=plan(choice), cards=join(("; ", "、"), published)))


def _four_bits(by_weights: Mapping[str, Cell]) -> None:
    """What AWQ takes beside INT8, in cards and time."""
    eight, awq = (by_weights[name] for name in ("w8a8-int8", "w4a16-awq"))
    assert eight.best
    assert awq.best
    numbers({"matrix-int8-cards": eight.best.row.choice.devices,
             "matrix-awq-cards": awq.best.row.choice.devices})
    number("matrix-awq-slower", awq.pace / eight.pace, fmt_sig, digits=2)


def picture(matrix: Sequence[Cell]) -> None:
    """Devices by precisions for one number of users: servers and time per token."""
    figure("matrix", partial(_drawn, [cell for cell in matrix if cell.users == DRAWN]))


def _drawn(asked: Sequence[Cell], lang: str) -> Figure:
    place = LANGUAGES.index(lang)
    devices = list(dict.fromkeys(cell.device for cell in asked))
    weights = list(load_goal(GOAL).precisions or ())
    drawing, axes = figures.axes(height=1.2 + 0.27 * len(devices))
    paces = [MILLI * cell.pace for cell in asked if cell.best]
    norm, shades = LogNorm(min(paces), max(paces)), mpl.colormaps["YlOrRd"]
    for cell in asked:
        across, down = weights.index(cell.precision), devices.index(cell.device)
        if not cell.best:
            axes.text(across, down, say("does-not-fit")[place], ha="center", va="center",
                      fontsize=7.5)
            continue
        shade = SHADES[0] + (SHADES[1] - SHADES[0]) * float(norm(MILLI * cell.pace))
        axes.add_patch(mpl.patches.Rectangle((across - 0.47, down - 0.44), 0.94, 0.88, lw=0,
                                             facecolor=shades(shade)))
        count = so_many(cell.best.row.choice.devices, cell.device, brief=True)[place]
        axes.text(across - 0.43, down, count, ha="left", va="center", fontsize=7.5,
                  color="#333333")
        axes.text(across + 0.43, down, f"{fmt_fixed(MILLI * cell.pace, 0)} ms", ha="right",
                  va="center", fontsize=8.5, color="#222222")
    figures.fields(axes, weights, [device_label(device)[place] for device in devices])
    return drawing


def full_matrix(matrix: Sequence[Cell]) -> None:
    """All fields as a file, and folded a table for each number of users."""
    download(f"{GOAL}.csv", map(_plain, matrix), say("download-all-fields-csv"))

    def held(of: Callable[[SampledRow], Any], heading: Pair) -> Column:
        return Column(lambda cell: of(cell.best) if cell.best else None, heading)

    columns = [
        Column(lambda cell: join(("<br>", "<br>"), (device_label(cell.device),
                                                    (f"`{cell.precision}`",) * 2)),
               say("device-precision")),
        held(lambda best: so_many(best.row.choice.devices, best.row.choice.device, column=True),
             common("number-of-cards")),
        held(_pace, common("ms-per-token")), held(_layout, common("layout")),
        held(lambda best: best.amounts["cost"].text if "cost" in best.amounts else None,
             common("cost"))]
    for count in sorted({cell.users for cell in matrix}):
        asked = [cell for cell in matrix if cell.users == count]
        table(asked, columns, sortable=True, folded=say(
            "users-one-server-holds-of", users=count, pairs=len(asked),
            held=sum(cell.servers == 1 for cell in asked)))


def _plain(cell: Cell) -> dict[str, str | float]:
    """A field as the file has it, with every setting of the choice; none where nothing holds it."""
    row: dict[str, str | float] = {
        "device": cell.device, "precision": cell.precision, "users": cell.users}
    if cell.best is None:
        return row
    choice, told = cell.best.row.choice, cell.best.amounts
    row |= {
        "servers": choice.nodes, "cards": choice.devices, "tensor_parallel": choice.tensor,
        "pipeline_parallel": choice.pipeline, "data_parallel": choice.data,
        "expert_parallel": choice.expert, "redundant_experts": choice.spares,
        "draft_tokens": choice.drafts, "tpot_ms": MILLI * cell.pace,
        "tpot_low_ms": MILLI * told["tpot"].low, "tpot_high_ms": MILLI * told["tpot"].high}
    if "cost" in told:
        row |= {"cost_per_million_output": told["cost"].value, "cost_low": told["cost"].low,
                "cost_high": told["cost"].high, "currency": cell.currency}
    return row


def _pace(best: SampledRow) -> str:
    """Time per token with its interval below it [ms]."""
    value, low, high = (fmt_fixed(MILLI * each, 1) for each in best.amounts["tpot"].points)
    return f"{value}<br>({low}–{high})"


def _layout(best: SampledRow) -> Pair:
    """What is chosen besides the weights."""
    english, chinese = plan(best.row.choice)
    return english.partition(", ")[2], chinese.partition("，")[2]
