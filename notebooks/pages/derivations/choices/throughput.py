"""What binds a plan as it can run, beside what its document says that does."""

from __future__ import annotations

import catalogue
from catalogue.messages import messages
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.choices import documents
from notebooks.pages.derivations.throughput import FP8, PLAN, quantities
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_time

say = messages("pages/derivations/choices/throughput")

USERS = 320  # the document's: 80 of each replica
LENGTH = 1024  # tokens of prompt and of answer: its context, halved
AS_IT_RUNS = (*FP8, "parallelism.pipeline_parallel=4", "parallelism.data_parallel=1",
              f"workload.concurrency={USERS} request", f"workload.input_tokens={LENGTH} token",
              f"workload.output_tokens={LENGTH} token")
EXPERTS = ("routed_expert", "shared_expert")


def advice(derivation: Derivation) -> None:
    """The four bottlenecks of document S1, each as a share of its plan.

    Args:
        derivation: of all quantities.
    """
    plan = catalogue.load_scenario(PLAN, overrides=list(AS_IT_RUNS))
    found = quantities(derivation, plan.inputs())
    assert plan.device.matrix_peak is not None
    assert plan.device.matrix_peak.fp8 is not None
    peak = plan.devices * plan.device.matrix_peak.fp8.value
    reached = 2 * float(found["active_parameters"] * found["steady_throughput"]) / peak
    step = float(found["decode_step_time"])
    experts = sum(float(found[f"decode_{name}_time"]) for name in EXPERTS) / step
    sent = float(found["decode_communication_time"]) / step
    held, memory = (float(found[name]) for name in ("weights_per_device", "usable_memory"))
    assert found["decode_fetch_time"] == 0
    documents.advised({"s1/bottlenecks": say(
        "what-binds-plan-c", users=fmt_int(USERS), reached=fmt_percent(reached),
        held=fmt_percent(held / memory, 0), experts=fmt_percent(experts, 0), step=fmt_time(step),
        sent=fmt_percent(sent, 0))})
