"""What tokens cost: per million of prompts and of answers, per user and month; energy per token.

Every function takes arrays as :func:`calc.evaluate` gives them, and plain amounts of money; which
price holds is for ``calc.costing.rates`` to say.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from calc.costing.power import own_cards
from calc.physics.arrays import Number, select
from catalogue.reading.units import DAY, YEAR

MILLION = 10**6
DAYS_OF_MONTH = YEAR / DAY / 12


def card_times(inputs: Mapping[str, Number], quantities: Mapping[str, Number]
               ) -> tuple[Number, Number]:
    """Cards times seconds that are busy with the prompt and with the answer of a request [s].

    A prompt has the stages of a replica in turn for its part of a packed chunk; an answer shares
    every step with the other requests of its batch.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.

    Source: notebooks/cost.md, section Prompts and answers.
    """
    ranks = inputs["tensor_parallel"]
    prompt = (ranks * quantities["burst_step_time"]
              * quantities["new_tokens"] / quantities["burst_tokens"])
    step = quantities["decode_step_time"] + quantities["draft_time"]
    answer = ranks * inputs["output_tokens"] * step / (
        quantities["decode_batch"] * quantities["tokens_per_step"])
    return prompt, answer


def token_costs(inputs: Mapping[str, Number], quantities: Mapping[str, Number],
                card_second: Number, utilisation: Number = 1.0,
                output_throughput: Number | None = None) -> dict[str, Number]:
    """What a deployment's tokens cost, that is paid by the time, at a share of its throughput.

    >>> import catalogue
    >>> from calc import evaluate
    >>> inputs = catalogue.load_scenario("s2-910b1-awq").inputs()
    >>> costs = token_costs(inputs, evaluate(inputs, "mla"), 1 / 3600, np.array([0.25, 1.0]))
    >>> (costs["per_output"] * 1e6).round(2)
    array([22.18,  5.55])

    All cards are paid all the time, and what that comes to for a request is divided between its
    prompt and its answer as the busy time of the cards is. Where prompts have a pool of their own,
    its cards are paid besides: those that are stated, else as many as keep up.

    Args:
        inputs: input symbols in SI units.
        quantities: those of ``calc.evaluate`` for them.
        card_second: of one card [money/s].
        utilisation: share of the throughput that is used, over the time that is paid [1].
        output_throughput: that the deployment reaches [token/s]; that of its burst by default.

    Returns ``cards`` [1], ``per_second`` [money/s], ``per_request`` [money/request], ``per_input``
    and ``per_output`` [money/token], and ``per_output_whole``, all of it charged to answers.

    Source: notebooks/cost.md, section Prompts and answers.
    """
    reached = quantities["output_throughput"] if output_throughput is None else output_throughput
    requests = reached / inputs["output_tokens"]
    prompt, answer = card_times(inputs, quantities)
    apart, own = np.greater(inputs["separate_pools"], 0), own_cards(inputs)
    beside = select(apart, select(np.greater(inputs["prefill_pool_devices"], 0),
                                  inputs["prefill_pool_devices"], requests * prompt), 0.0)
    paid = own + beside
    # of a pool of its own a prompt is charged the cards, however busy they are
    times = select(apart, beside, prompt), select(apart, own, answer)
    _, per_request, per_input, per_output = shared_out(
        paid, card_second, utilisation, requests, *times,
        inputs["input_tokens"], inputs["output_tokens"])
    return {"cards": paid, "per_second": paid * card_second, "per_request": per_request,
            "per_input": per_input, "per_output": per_output,
            "per_output_whole": per_request / inputs["output_tokens"]}


def shared_out(paid: Number, card_second: Number, utilisation: Number, requests: Number,
               prompt: Number, answer: Number, input_tokens: Number, output_tokens: Number
               ) -> tuple[Number, Number, Number, Number]:
    """What a request costs, divided between its prompt and its answer.

    Args:
        paid: cards [1].
        card_second: of one [money/s].
        utilisation: share of the throughput that is used [1].
        requests: that the deployment reaches [request/s].
        prompt, answer: by which the cost is divided, of any one unit.
        input_tokens, output_tokens: of a request [token].

    Returns the prompt's share [1], the request [money], a token of its prompt and of its answer
    [money/token].

    Source: notebooks/cost.md, section Prompts and answers.
    """
    share = prompt / (prompt + answer)
    request = paid * card_second / (utilisation * requests)
    return share, request, share * request / input_tokens, (1 - share) * request / output_tokens


def user_month(per_input: Number, per_output: Number, input_tokens: Number, output_tokens: Number,
               requests_per_day: Number) -> Number:
    """What a user costs in a month [money].

    Args:
        per_input, per_output: of a token [money/token].
        input_tokens, output_tokens: of a request [token].
        requests_per_day: of a user [request].

    Source: notebooks/cost.md, section Prompts and answers.
    """
    request = per_input * input_tokens + per_output * output_tokens
    return DAYS_OF_MONTH * requests_per_day * request


def agent_costs(request: Number, turns: int, input_tokens: Number, output_tokens: Number
                ) -> dict[str, Number]:
    """What an agent's tokens and tasks cost, from what its mean request costs.

    A task is its turns, each a request. A request processes its prompt, whether it is found in the
    cache or not, and its answer, all tokens at one price.

    >>> agent_costs(0.02, 30, 9500, 500)
    {'per_processed': 2e-06, 'per_task': 0.6}

    Args:
        request: the mean request [money].
        turns: of a task [1].
        input_tokens, output_tokens: of the mean request [token].

    Returns ``per_processed`` [money/token] and ``per_task`` [money].

    Source: notebooks/cost.md, section Prompts and answers.
    """
    return {"per_processed": request / (input_tokens + output_tokens), "per_task": turns * request}


def energy_per_token(busy_power: Number, idle_power: Number, utilisation: Number,
                     output_throughput: Number) -> Number:
    """Energy of an answer's token [J/token], the hours without requests included.

    Args:
        busy_power: at the throughput that the deployment reaches [W].
        idle_power: with weights in memory and no request [W].
        utilisation: share of the throughput that is used [1].
        output_throughput: that it reaches [token/s].

    Source: notebooks/cost.md, section What a card draws.
    """
    mean = utilisation * busy_power + (1 - utilisation) * idle_power
    return mean / (utilisation * output_throughput)
