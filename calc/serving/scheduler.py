"""Continuous batching with chunked prefill: what an engine computes in its next step.

Two policies. ``mixed`` is vLLM's (V1): running requests come first, decode tokens and chunks of
prompts share one token budget, and when cache blocks run out the request admitted last is
preempted: its cache is dropped and computed again. ``prefill-first`` is SGLang's: a step is all
prefill or all decode, prefill goes first while there is any, so decoding pauses meanwhile; a
request is admitted with room for all of its output. How long a step takes is not known here.

Requests with texts in common share their blocks under both policies: a request that comes to its
turn looks up what is there, and its own blocks can be found as soon as a step fills them. What a
preempted one had it may find again.

A step brings a request that decodes the mean number of accepted drafts besides its token.

Not modelled: how their number varies, the step of a request that has ended, rounding of chunks to
pages and prefixes shared to the token (SGLang).

Only whole blocks are shared. A block is counted by the requests in work that have it; one that
nobody has any more stays until its space is needed, and of those the least recently used goes
first, of one request its end before its beginning. So what is left of a text is always its
beginning, and a request that has a block has all those before it.

What is evicted is lost: a cache in host memory (``workload.host_cache``) is not simulated block by
block. Where hits are stated or follow from the closed form, a simulation delays each request by the
mean time that its load is waited for (``calc.answer.simulated_load.System.overhead``).

Sources: https://github.com/vllm-project/vllm, vllm/v1/core/sched/scheduler.py (``schedule``,
``_preempt_request``) and vllm/v1/core/kv_cache_manager.py (``allocate_slots``);
https://github.com/sgl-project/sglang, python/sglang/srt/managers/scheduler.py
(``get_next_batch_to_run``), schedule_policy.py (``PrefillAdder``); automatic prefix caching, https://github.com/vllm-project/vllm,
vllm/v1/core/kv_cache_manager.py (``get_computed_blocks``, ``allocate_slots``, ``free``) and
vllm/v1/core/block_pool.py (``get_new_blocks``, ``touch``, ``free_blocks``). There empty blocks
queue with the kept ones; here they are taken first. There two requests may compute the same block,
and both copies stay; here it becomes one.
"""

from __future__ import annotations

import math
from collections import OrderedDict, deque
from collections.abc import Sequence
from itertools import islice, takewhile
from typing import Any

from calc.serving.requests import Block, Contexts, Job, Limits, Step


class PrefixCache:
    """Whole blocks of texts in the cache, and the number of requests that use them.

    Attributes:
        idle: blocks that are kept though nobody in work has them, the least recently used first.
    """

    def __init__(self) -> None:
        self._users: dict[Block, int] = {}
        self.idle: OrderedDict[Block, None] = OrderedDict()

    def find(self, blocks: Sequence[Block]) -> tuple[int, int]:
        """Blocks that a request finds at its beginning, and how many of these others have [block].
        """
        hits = [*takewhile(self._users.__contains__, blocks)]
        return len(hits), sum(self._users[block] > 0 for block in hits)

    def hold(self, blocks: Sequence[Block]) -> int:
        """A request gets blocks, those found and those filled.

        Returns how many of them others have too [block].
        """
        shared = 0
        for block in blocks:
            self._users[block] = users = self._users.get(block, 0) + 1
            shared += users > 1
            self.idle.pop(block, None)
        return shared

    def drop(self, blocks: Sequence[Block]) -> int:
        """A request leaves its blocks; returns how many of them others have [block]."""
        shared = 0
        for block in reversed(blocks):
            self._users[block] -= 1
            if self._users[block]:
                shared += 1
            else:
                self.idle[block] = None
        return shared

    def evict(self, count: int) -> None:
        """Forget so many blocks, of those that nobody has."""
        for _ in range(count):
            del self._users[self.idle.popitem(last=False)[0]]


class Engine:
    """The state of one replica: ``plan`` a step, let its time pass, then ``complete`` it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.waiting: deque[Job] = deque()
        self.arrived: list[list[Any]] = []  # not looked for yet: a request, and steps it misses
        self.decoded = 0  # steps in a row without a prompt
        self.running: list[Job] = []
        self.free: float = math.inf if limits.kv_blocks is None else limits.kv_blocks
        self.prefix_cache = PrefixCache()  # its idle blocks are free, until they are taken
        self.shared = False  # whether any request had blocks to share
        self.most = 0  # blocks that those running have at the end
        self.planned: list[tuple[Job, int]] = []
        self.preempted: list[Job] = []
        self.going = 0  # requests in work that decode step by step: the first ones
        self.lasting = 0  # steps to come that take each of them a token further
        self.passed = 0  # such steps that are over and not yet booked on their requests
        self.ahead = 0  # requests in work that the last step took further so
        self.contexts = Contexts(())  # of those that decoded in the last step
        self.tried = False  # whether that step left those out who wait
        self.admits = True  # whether requests who wait may be let in

    def submit(self, job: Job, busy: bool = False) -> None:
        """A request arrives; of an engine that is ``busy`` with a step it may have to wait.

        Raises ValueError if it needs more blocks than the cache has.
        """
        needed = self.limits.with_state(job.request.most_cached)
        if self.limits.kv_blocks is not None and needed > self.limits.kv_blocks:
            raise ValueError(f"a request of {job.request.input_tokens} + "
                             f"{job.request.output_tokens} tokens needs {needed} blocks, the cache "
                             f"has {self.limits.kv_blocks}.")
        job.shareable = self.limits.shareable(job.request.texts)
        job.last = self.limits.steps(job.request.output_tokens - 1)
        self.shared = self.shared or bool(job.shareable)
        if busy and (self.limits.recv_interval > 1 or self.limits.steps_ahead):
            self.arrived.append([job, self.limits.steps_ahead])
            return
        if not busy:
            self.decoded = 0
        self._enter(job)

    def receive(self, idle: bool) -> None:
        """Look for requests before a step is planned; an ``idle`` engine does so all the time."""
        looks, missed = idle or not self.decoded % self.limits.recv_interval, []
        for entry in self.arrived:
            if idle or (looks and not entry[1]):
                self._enter(entry[0])
            else:
                missed.append([entry[0], max(0, entry[1] - 1)])
        self.arrived = missed

    def _enter(self, job: Job) -> None:
        """Put a request at the end of the queue."""
        if self.limits.policy != "mixed":  # those in work may have to pause
            self._book_passed()
            self.lasting = 0
        self.tried = False
        self.waiting.append(job)

    @property
    def load(self) -> int:
        """Requests submitted and not finished [request]."""
        return len(self.waiting) + len(self.running) + len(self.arrived)

    @property
    def idle(self) -> bool:
        """Whether there is nothing to work on of what it has looked for."""
        return not (self.running or self.waiting)

    @property
    def full(self) -> bool:
        """Whether no place is left but one, as ranks that balance their requests have it."""
        return len(self.running) >= max(1, self.limits.max_num_seqs - 1)

    @property
    def queued_tokens(self) -> int:
        """Tokens of the prompts that wait [token]."""
        return sum(job.known - job.computed for job in self.waiting)

    @property
    def can_prefill(self) -> bool:
        """Whether a prompt could begin in the next step, and has a place."""
        limits = self.limits
        if not self.waiting or len(self.running) >= limits.max_num_seqs:
            return False
        self._book_passed()
        job = self._first()
        if limits.policy == "prefill-first":
            return not job.decodes and self._has_room_for(job)
        return not job.decodes and limits.with_state(job.known) - job.spared <= self.free

    @property
    def decodes(self) -> bool:
        """Whether a request in work waits for its next token."""
        return any(job.decodes for job in self.running)

    def plan(self, now: float, prompts: bool = True) -> Step:
        """Decide what the step that begins at ``now`` [s] computes; there has to be a request.

        Without ``prompts`` none begins, and the step may be empty; a prompt that was begun goes on.
        """
        self.ahead = self.going if self.lasting else 0
        if self.ahead:
            self.decoded += 1
            self.lasting -= 1
            self.passed += 1
            self.contexts = self.contexts.next(self.limits.tokens_per_step)
            if self.ahead == len(self.running) and (self.tried or not self.waiting):
                return Step((), self.contexts)
        if not (self.ahead and self._suffices()):
            self._book_passed()
        self.planned, self.preempted = [], []
        if self.limits.policy == "mixed":
            self._plan_mixed(prompts and self.admits)
        else:
            self._plan_prefill_first(prompts and self.admits)
        prefill, decode = [], []
        for job, new in self.planned:
            if job.started != job.started:  # not a number yet
                job.started = now
            if job.generated and job.computed == job.known - 1:  # it decodes
                decode.append(job.known)
            else:
                prefill.append((new, job.computed))
        if not self.ahead:
            self.contexts = Contexts(tuple(decode))
        elif decode:  # of requests that come with their cache, or found it
            self.contexts = Contexts((*self.contexts, *decode))
        self.tried = prompts and self.admits and not prefill
        self.decoded = 0 if prefill else self.decoded + (not self.ahead)
        return Step(tuple(prefill), self.contexts)

    def complete(self, now: float) -> list[Job]:
        """Book the planned step, which ends at ``now`` [s]; returns the requests it finishes."""
        finished: list[Job] = []
        if self.ahead and self.lasting and (not self.planned or (self._suffices() and not any(
                job.computed + new == job.known for job, new in self.planned))):
            for job, new in self.planned:
                job.computed += new
            self.planned = []
            return finished
        self._book_passed()
        ready = self.running[:self.ahead]
        for job, new in self.planned:
            job.computed += new
            if job.computed < job.known:
                continue
            job.take(1, self.limits.tokens_per_step)
            if job.first_token != job.first_token:  # not a number yet
                job.first_token = now
            ready.append(job)
        first = not ready or self.running[len(ready) - 1] is ready[-1]  # of those in work
        for job in ready:
            if job.steps >= job.last:
                job.finished = now
                self._release(job)
                finished.append(job)
        if finished:
            self.running = [job for job in self.running if job.finished != job.finished]
            self.tried = False
        self.going = len(ready) - len(finished)
        self.lasting = self._repeats() if first and self.going else 0
        if self.lasting and (finished or len(self.contexts) != self.going):
            self.contexts = Contexts(  # a step before the next one, which sees one token more
                tuple([job.computed for job in self.running[:self.going]]),
                1 - self.limits.tokens_per_step)
        self.planned = []
        return finished

    def _repeats(self) -> int:
        """Number of steps from now that advance every decoding request by a token.

        Under ``mixed`` they do whoever arrives: a prompt has what is left of a step. None but the
        last ends a request, and none finds too few blocks. What prefixes share changes no sooner
        than somebody takes a block. What is set aside for output to come is looked at in every
        step, unless those who wait lack a place anyway.
        """
        limits, going = self.limits, self.running[:self.going]
        others = self.going < len(self.running)
        if self.preempted or (limits.policy != "mixed" and (others or (self.waiting and not (
                self.tried and len(self.running) >= limits.max_num_seqs)))):
            return 0
        steps = min([job.last - job.steps for job in going])
        ahead = limits.step_tokens - 1
        further = int(steps * limits.tokens_per_step) + ahead
        if self.shared or (not self._suffices() and (others or (
                self.free < self.going * limits.blocks(further)
                and self.free < sum(limits.blocks(job.computed + further) - job.blocks
                                    for job in going)))):
            steps = min(steps, *(int((job.room - job.computed - ahead) // limits.tokens_per_step)
                                 for job in going))
        return max(0, steps)

    def _book_passed(self) -> None:
        """Bring the requests up to the steps that only repeated the one before."""
        passed, self.passed = self.passed, 0
        for job in self.running[:self.going] if passed else ():
            job.take(passed, self.limits.tokens_per_step)
            reached = min(job.computed + self.limits.step_tokens - 1, job.request.most_cached)
            if reached > job.room:
                self._allocate(job, reached)

    def _plan_mixed(self, admits: bool) -> None:
        """Running requests in order of admission, then waiting ones, until the budget is spent."""
        limits, running, planned = self.limits, self.running, self.planned
        budget = max(0, limits.max_num_batched_tokens - self.ahead * limits.step_tokens)
        for job in islice(running, self.ahead, None):  # of which the last ones may go meanwhile
            if not budget:
                break
            new = min(job.known - job.computed, budget)
            decodes = job.decodes
            reached = self._reached(job) if decodes else job.computed + new
            if reached > job.room and not self._make_room(job, reached):
                break
            planned.append((job, new))
            budget = max(0, budget - (limits.step_tokens if decodes else new))
        while (admits and self.waiting and budget and not self.preempted
               and len(running) < limits.max_num_seqs):
            job = self._first()
            if not self._suffices(limits.with_state(job.request.most_cached)):
                self._book_passed()
            new = min(job.known - job.computed, budget)
            if limits.with_state(job.known) - job.spared > self.free:
                break
            if not self._allocate(job, job.computed + new):
                break
            self._admit()
            self.planned.append((job, new))
            budget -= new

    def _reached(self, job: Job) -> int:
        """Tokens in the cache after a decode step of a request, if all drafts are accepted."""
        return min(job.computed + self.limits.step_tokens, job.request.most_cached)

    def _make_room(self, job: Job, tokens: int) -> bool:
        """Preempt those admitted last until a request finds its blocks; False if it goes itself."""
        while not self._allocate(job, tokens):
            self._preempt(victim := self.running[-1])
            self.waiting.appendleft(victim)
            if victim is job:
                return False
        return True

    def _plan_prefill_first(self, admits: bool) -> None:
        """Chunks of prompts if there are any, else one token of every request in work."""
        budget, limits, running = self.limits.max_num_batched_tokens, self.limits, self.running
        if running and not running[-1].decodes:  # only the last can be in its prompt
            budget -= self._take_chunk(running[-1], budget)
        while (admits and self.waiting and budget
               and len(running) < limits.max_num_seqs):
            job = self._first()
            if not self._has_room_for(job):
                break
            self._admit()
            if not job.decodes:
                budget -= self._take_chunk(job, budget)
            else:  # it came with its cache, or found it, and waits for the next decode step
                self._allocate(job, job.computed)
        if self.planned:
            return
        for job in self.running:
            self._allocate(job, self._reached(job))
            self.planned.append((job, 1))

    def _take_chunk(self, job: Job, budget: int) -> int:
        """Plan the next chunk of a prompt, at most ``budget`` tokens; returns its tokens."""
        new = min(job.known - job.computed, budget)
        self._allocate(job, job.computed + new)  # an admitted request finds its blocks
        self.planned.append((job, new))
        return new

    def _suffices(self, more: int = 0) -> bool:
        """Whether the cache holds what those running have at the end, and so many blocks more."""
        return self.limits.kv_blocks is None or self.most + more <= self.limits.kv_blocks

    def _has_room_for(self, job: Job) -> bool:
        """Whether a request fits with all its output beside what is set aside for the others."""
        set_aside = self.limits.with_state(job.request.most_cached)
        if self._suffices(set_aside):
            return True
        return set_aside - job.spared + sum(
            self.limits.blocks(other.request.most_cached) - other.blocks
            for other in self.running) <= self.free

    def _first(self) -> Job:
        """The first of the queue, with what it finds in the cache; its last token is computed."""
        job = self.waiting[0]
        if job.shareable:
            size = self.limits.block_size
            hits, job.spared = self.prefix_cache.find(
                job.shareable[:(job.known - 1) // size])
            job.computed = hits * size
            if not job.preemptions:
                job.hit_tokens = job.computed
        return job

    def _admit(self) -> None:
        """Take the first of the queue into work."""
        job = self.waiting.popleft()
        self.running.append(job)
        self.most += self.limits.with_state(job.request.most_cached)

    def _allocate(self, job: Job, tokens: int) -> bool:
        """Give a request blocks for that many tokens; False, and nothing, if too few are free."""
        if tokens > job.room:
            more = self.limits.blocks(tokens) - job.blocks
            # who has no block yet has no state either
            state = 0 if job.blocks else self.limits.state_blocks_per_request
            if more + state > self.free + job.spared:
                return False
            self.free -= more + state
            job.blocks += more
            job.room = job.blocks * self.limits.block_size
            if job.shareable:
                full = tokens // self.limits.block_size
                self.free += self.prefix_cache.hold(job.shareable[job.held:full])
                job.held, job.spared = full, 0
                job.room -= 1  # the token that fills a block is not passed over
            if self.shared and (lacking := len(self.prefix_cache.idle) - self.free) > 0:
                self.prefix_cache.evict(int(lacking))
                job.evicted += int(lacking)
        return True

    def _release(self, job: Job) -> None:
        self.free += job.blocks + self.limits.state_blocks_per_request
        if job.shareable:
            self.free -= self.prefix_cache.drop(job.shareable[:job.held])
        self.most -= self.limits.with_state(job.request.most_cached)
        job.blocks = job.room = job.held = 0

    def _preempt(self, job: Job) -> None:
        """Drop the cache of a request in work: all but a cached prefix is computed again."""
        self.running.remove(job)
        self._release(job)
        job.computed = job.base
        job.preemptions += 1
        self.preempted.append(job)
        self.lasting = 0


def duration(steps: Sequence[Step], taken: float) -> float:
    """Check the time of a step of one or several ranks; return it [s].

    Args:
        steps: what each rank computes; an idle one nothing.
        taken: from the end of the step before to the end of this one [s].

    Raises ValueError if it is no time.
    """
    if not 0 <= taken < math.inf:
        chunks, decoding = (sum(map(len, parts)) for parts in (
            [step.prefill for step in steps], [step.decode for step in steps]))
        raise ValueError(f"a step with {chunks} chunks and {decoding} decoding requests takes "
                         f"{taken} s, expected a time.")
    return taken
