"""What binds a plan as it can run, beside what its document says that does."""

from __future__ import annotations

import catalogue
from notebooks.derive.formulas.derivation import Derivation
from notebooks.pages.derivations.choices import documents
from notebooks.pages.derivations.throughput import FP8, PLAN, quantities
from notebooks.show.numbers import fmt_int, fmt_percent, fmt_time

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
    documents.advised({"s1/bottlenecks": (
        f"Plan C in FP8, TP8×PP4, {fmt_int(USERS)} users: its tokens use {fmt_percent(reached)} of "
        f"the peak, and its weights {fmt_percent(held / memory, 0)} of the memory. Experts take "
        f"{fmt_percent(experts, 0)} of a step of {fmt_time(step)}, links {fmt_percent(sent, 0)}. "
        "Nothing is fetched, because all experts are on the cards.",
        f"方案 C 改用 FP8、TP8×PP4，{fmt_int(USERS)} 个用户：产出的 token 只用到峰值的 "
        f"{fmt_percent(reached)}；权重占显存的 {fmt_percent(held / memory, 0)}。一步 "
        f"{fmt_time(step)} 中，专家占 {fmt_percent(experts, 0)}，通信占 {fmt_percent(sent, 0)}；"
        "专家全在卡上，无需从存储加载。")})
