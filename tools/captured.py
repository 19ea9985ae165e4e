"""What a captured step adds up to on a real card: small kernels, a chain of matmuls, two streams.

``python -m tools.captured OUT.csv`` needs PyTorch with CUDA and takes less than five minutes. Every
time is of a captured graph, replayed: the median over replays, over the repetitions within. Three
questions, whose answers the laws of ``params/fits/`` and the schedules of ``params/profiles/`` rest
on:

- *small*: what one more small kernel takes in a graph, beside its own time on the card. The
  difference is the boundary between kernels.
- *chain*: matmuls of a layer of DeepSeek-V3 on eight ranks one after another, beside the sum of
  each repeated alone. What laws of single matmuls say of a layer.
- *streams*: shared and routed experts on one stream, and on two.
"""

from __future__ import annotations

import argparse
import csv
import statistics
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from tools.measure_card import Card

ROWS = (1, 4, 16, 64)  # of a step [token]
REPEATED, REPLAYS, LAYERS = 64, 50, 16  # within a graph; of a graph; copies of the weights
MICRO = 1e6  # microseconds in a second
HIDDEN, EXPERTS, CHOSEN, SLICE = 7168, 256, 8, 256  # of DeepSeek-V3; inside an expert of a rank
LAYER = {  # matmul -> depth and columns on one of eight ranks
    "q_a, kv_a": (HIDDEN, 2112), "q_b": (1536, 3072), "o": (2048, HIDDEN),
    "router": (HIDDEN, EXPERTS), "shared up": (HIDDEN, 2 * SLICE), "shared down": (SLICE, HIDDEN)}

Row = tuple[str, str, int, float]  # question, what, tokens, microseconds


def captured(card: Card, work: Callable[[int], object], count: int = REPEATED) -> float:
    """Time of one repetition of work in a captured graph [s].

    Args:
        card: that runs it.
        work: what is captured, with the number of the repetition.
        count: repetitions within the graph.
    """
    work(0)  # the first call may compile or search for an algorithm
    replay = card.graph([partial(work, number) for number in range(count)])
    times = [card.seconds(replay) for _ in range(REPLAYS)]
    return statistics.median(times[REPLAYS // 5:]) / count


def small(card: Card) -> Iterator[Row]:
    """A scaling of a hidden state, alone and many in a row, beside its own time on the card."""
    torch = card.torch
    for rows in ROWS:
        state = torch.ones(rows, HIDDEN, device="cuda", dtype=torch.bfloat16)

        def work(_: int, state: Any = state) -> None:
            state.mul_(1.0)

        few, many = (count * captured(card, work, count) for count in (REPEATED, 2 * REPEATED))
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
            for number in range(REPEATED):
                work(number)
            torch.cuda.synchronize()
        own = sum(event.device_time_total for event in profile.key_averages()) / REPEATED
        yield "small", "one more in a graph", rows, MICRO * (many - few) / REPEATED
        yield "small", "its own time", rows, own


def chain(card: Card) -> Iterator[Row]:
    """Matmuls of a layer, each with other weights in every repetition."""
    weights = {name: [card.matrix("bf16", depth, columns) for _ in range(LAYERS)]
               for name, (depth, columns) in LAYER.items()}
    for rows in ROWS:
        states = {name: card.matrix("bf16", rows, depth) for name, (depth, _) in LAYER.items()}

        def some(names: Iterable[str], number: int, states: Any = states) -> None:
            for name in names:
                card.torch.mm(states[name], weights[name][number % LAYERS])

        alone = {name: captured(card, partial(some, [name])) for name in LAYER}
        whole = captured(card, partial(some, LAYER))
        for name, time in alone.items():
            yield "chain", name, rows, MICRO * time
        yield "chain", "sum", rows, MICRO * sum(alone.values())
        yield "chain", "in a row", rows, MICRO * whole


def streams(card: Card) -> Iterator[Row]:
    """Slices of the experts that tokens choose, in one batch, and of the shared one."""
    torch = card.torch
    up, down = (card.matrix("bf16", EXPERTS, *shape)
                for shape in ((HIDDEN, 2 * SLICE), (SLICE, HIDDEN)))
    shared = [card.matrix("bf16", *LAYER[name]) for name in ("shared up", "shared down")]
    aside = torch.cuda.Stream()
    for rows in ROWS:
        hit = min(rows * CHOSEN, EXPERTS)
        state = card.matrix("bf16", rows, HIDDEN)
        sent = card.matrix("bf16", hit, max(1, rows * CHOSEN // hit), HIDDEN)

        def of_routed(sent: Any = sent, hit: int = hit) -> None:
            torch.bmm(torch.bmm(sent, up[:hit])[..., :SLICE], down[:hit])

        def of_shared(state: Any = state) -> None:
            torch.mm(torch.mm(state, shared[0])[:, :SLICE], shared[1])

        def one_stream(_: int) -> None:
            of_shared()
            of_routed()

        def two_streams(_: int) -> None:
            main = torch.cuda.current_stream()
            aside.wait_stream(main)
            with torch.cuda.stream(aside):
                of_shared()
            of_routed()
            main.wait_stream(aside)

        for name, work in (("routed alone", lambda _: of_routed()),
                           ("shared alone", lambda _: of_shared()),
                           ("one stream", one_stream), ("two streams", two_streams)):
            yield "streams", name, rows, MICRO * captured(card, work)


def main(path: str) -> None:
    """Measure, print and write a table.

    Args:
        path: of the table.
    """
    card = Card("cuda", 0)
    rows = [row for question in (small, chain, streams) for row in question(card)]
    with Path(path).open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["card", "question", "what", "tokens", "us"])
        for question, what, tokens, time in rows:
            writer.writerow([card.describe()[0], question, what, tokens, f"{time:.3f}"])
            print(f"{question:8} {what:20} {tokens:4} {time:9.2f} us")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("table", help="CSV to write")
    main(parser.parse_args().table)
