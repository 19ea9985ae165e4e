"""What a scheduler is given of a sweep, and what is said of workers that fail, hang or go away."""

from types import SimpleNamespace as Made

import pytest

from calc.sweeping import workers
from calc.sweeping.workers import AHEAD
from catalogue import ParamsError


class Future:
    """A chunk that is finished at once, or never."""

    def __init__(self, made, status="finished", finishes=True):
        self.made, self.status, self.finishes = made, status, finishes

    def add_done_callback(self, told):
        if self.finishes:
            told(self)

    def result(self, timeout):
        if isinstance(self.made, Exception):
            raise self.made
        return self.made


class Client:
    """A scheduler with so many threads, and what becomes of each chunk."""

    def __init__(self, threads=2, status="running", joins=True, chunks=None):
        self.threads, self.status, self.joins = threads, status, joins
        self.chunks, self.given, self.scheduler = chunks or {}, [], Made(ncores=None)

    def wait_for_workers(self, count, timeout):
        self.waited = count, timeout
        if not self.joins:
            raise TimeoutError

    def sync(self, *_, **__):
        return {"a": self.threads} if self.threads else {}

    def submit(self, function, *given, key, **more):
        self.given.append((function, given, key, more))
        if function is workers._same:
            return function(*given)
        return self.chunks.get(given[1]) or Future((given[1], None, None, None))


PLAN = Made(key="a key")


@pytest.fixture(autouse=True)
def hasty(monkeypatch):
    """A scheduler that is silent for a moment is silent for long."""
    monkeypatch.setattr(workers, "LOOK", .001)
    monkeypatch.setattr(workers, "JOINING", .003)
    monkeypatch.setattr(workers, "program", lambda: "this state")


def run(client, count=9):
    return [done[0] for done in workers._submitted(client, PLAN, [*range(count)], True, "tcp://a")]


def test_every_chunk_is_given_once_a_few_ahead_of_each_thread():
    client = Client(threads=2)
    some = workers._submitted(client, PLAN, [*range(9)], True, "tcp://a")
    assert next(some)[0] == 0
    assert len(client.given) == 1 + 2 * AHEAD + 1  # the plan, some ahead, and one for what came
    assert sorted([0, *(done[0] for done in some)]) == [*range(9)]
    assert client.waited == (1, workers.JOINING)
    plan, *chunks = client.given
    assert plan == (workers._same, (PLAN,), "plan-a key", {})
    assert chunks == [(workers._checked, (PLAN, number, True, "this state"),
                       f"chunk-a key-{number}-True", {"retries": workers.PATIENCE})
                      for number in range(9)]
    assert run(Client(threads=50)) == [*range(9)]


@pytest.mark.parametrize(("client", "said"), [
    (Client(joins=False), "--scheduler tcp://a: no worker has joined it within 0.003 s, expected "
     "'dask worker' with its address."),
    (Client(chunks={1: Future(KeyError("x\nand more"), "error")}),
     "--scheduler tcp://a: chunk 1 fails on its workers (KeyError: 'x\\nand more'); finished parts "
     "are kept, the same command goes on from there."),
    (Client(chunks={1: Future(ValueError("it has\nlines."), "error")}),
     "--scheduler tcp://a: chunk 1 fails on its workers (ValueError: it has); finished parts are "
     "kept, the same command goes on from there."),
    (Client(chunks={1: Future(KeyError("x"), "lost")}),
     "--scheduler tcp://a: the scheduler went away; finished parts are kept, the same command goes "
     "on from there."),
    (Client(chunks={1: Future(KeyError("x"), "cancelled")}),
     "--scheduler tcp://a: the scheduler went away; finished parts are kept, the same command goes "
     "on from there."),
    (Client(status="closed", chunks={1: Future(KeyError("x"), "error")}),
     "--scheduler tcp://a: the scheduler went away; finished parts are kept, the same command goes "
     "on from there."),
    (Client(chunks={1: Future(ParamsError("ours"), "error")}), "ours")])
def test_a_chunk_that_fails_is_a_sentence(client, said):
    with pytest.raises(ParamsError) as told:
        run(client)
    assert str(told.value) == said


def test_a_silent_scheduler_is_waited_for_as_long_as_it_has_workers():
    """One that is silent, and has none after so long, or runs no more, went away."""
    late = Future((1, None, None, None), finishes=False)

    def gone(client, **then):
        some = workers._submitted(client, PLAN, [0, 1], False, "tcp://a")
        assert next(some)[0] == 0
        vars(client).update(then)
        with pytest.raises(ParamsError) as told:
            next(some)
        return str(told.value).partition(";")[0]

    assert gone(Client(chunks={1: late}), threads=0) == (
        "--scheduler tcp://a: all of its workers went away")
    assert gone(Client(chunks={1: late}), status="closed") == (
        "--scheduler tcp://a: the scheduler went away")
    asked = []
    client = Client(chunks={1: late})
    client.sync = lambda *_, **__: asked.append(1) or {"a": 2 if len(asked) < 4 else 0}
    assert gone(client) == "--scheduler tcp://a: all of its workers went away"
    assert len(asked) == 4
