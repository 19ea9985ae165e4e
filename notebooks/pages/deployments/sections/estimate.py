"""The estimate: what a user sees, what a step is made of, where the memory goes, and the floor."""

from __future__ import annotations

from typing import Any

from calc.serving.evaluate import doubt_words
from calc.uncertainty import Amount
from catalogue.messages import join, messages
from notebooks.pages.catalogue.tables import deployments
from notebooks.pages.catalogue.tables.deployments import RESOURCES, quantity_label
from notebooks.pages.deployments.sections.page import Page
from notebooks.show.display import draw, markdown, table
from notebooks.show.drawing import Drawing, Stack, stacked_bars
from notebooks.show.figures import CACHE, COMPUTE, HOST, LINKS
from notebooks.show.figures import READ as WEIGHTS
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_percent, fmt_quantity, fmt_sig

common = messages("common")
say = messages("pages/deployments/sections/estimate")

PHASES = {"decode": say("decode-step"), "prefill": say("chunk-of-prefill")}
SHORT = {"decode": common("decode"), "prefill": common("prefill")}
READ = [("decode_dense", say("weights-of-every-step")),
        ("decode_expert", say("experts-that-are-hit")),
        ("decode_kv", say("kv-cache"))]
ADDED = {"redundant_weights_per_device": common("redundant-experts"),
         "mtp_weights": say("prediction-layer-mtp"),
         "absorbed_copies_per_device": say("absorbed-copies"),
         "exchange_buffers": (BUFFERS := say("all-to-all-buffers"))}


def times_and_rates(page: Page) -> None:
    """What users see, in a burst, in a benchmark that starts with one, and in the run that was
    measured where it is replayed."""
    deployed, prompt = page.deployed, {}
    if "ttft" in page.answers and page.quantities["requests_per_rank"] > 1:
        prompt = {"prefill_time": deployed.quantity("prefill_time")}
    columns: dict[str, dict[str, Amount]] = {"value": prompt | dict(page.answers)}
    if not deployed.answer.burst:
        columns |= {"burst": deployed.burst, "bench": deployed.bench}
    if deployed.replayed:
        columns["replay"] = deployed.as_measured
    heads = {"value": say("steady") if "burst" in columns else say("estimate"),
             "burst": say("burst"), "bench": say("bench"), "replay": say("run-replayed")}
    table([{"what": quantity_label(name), **{
        key: f"{of[name].text} ({of[name].reach})" if name in of else "–"
        for key, of in columns.items()}} for name in columns["value"]],
          {"what": common("quantity")} | {key: heads[key] for key in columns})
    _doubted(page)
    if deployed.replayed:
        uneven = bool(deployed.seen and deployed.seen.unequal & set(deployed.asked))
        markdown(*say("benchmark-sends-many-requests-at", uneven=uneven))


def _doubted(page: Page) -> None:
    """Why the closed form of the steady state does not hold, where it does not; a sentence."""
    steady, seen = page.deployed.answer.steady, page.deployed.answer.simulated
    if steady is None or not steady.doubts:
        return
    doubts = join(("; ", "；"), (doubt_words()[name] for name in steady.doubts))
    if seen is None:
        markdown(*say("closed-form-of-steady-state", doubts=doubts))
        return
    count = f"{seen.summary.requests:,}"
    markdown(*say("closed-form-of-steady-state-does", count=count, doubts=doubts))




def steps(page: Page) -> None:
    """What a decode step and a chunk of prefill are made of, and what binds them."""
    size = fmt_quantity(float(page.quantities["prefill_tokens"]), "token")
    whole = float(page.quantities["prefill_tokens"]) == page.inputs["input_tokens"]
    labels = {"decode": common("time-per-output-token"),
              "prefill": say("prefill-chunk-of-tokens", size=size, whole=whole)}
    taken = page.deployed.steps
    draw(deployments.bars([(labels[step.phase], SHORT[step.phase], step.parts) for step in taken]))
    hidden = max(-1e3 * sum(float(step.parts.get(name, 0.0)) for name in deployments.HIDDEN)
                 for step in taken)
    if hidden > 0:
        markdown(*say("dashed-time-that-overlap-hides"))
    to = f"(#{page.family.id}-floor)"
    floor = say("floor-has-reading-alone", to=to) if (
        "tpot" in page.answers) else ("", "")
    binds = {step.binding: [PHASES[other.phase] for other in taken
                            if other.binding == step.binding] for step in taken}
    items = join((", and ", "，"), (
        say("binds-in", phases=join(say("and-in"), of), bound=RESOURCES[by],
            bound_begins_latin=RESOURCES[by][1][0].isascii()) for by, of in binds.items()))
    markdown(*say("largest-share-of-time-is", floor=floor, items=items))
    table(deployments.binding([(PHASES[step.phase], step.bound) for step in taken]),
          {"what": common("bound-by")} | {
              key: heading for number, step in enumerate(taken) for key, heading in (
                  (f"time{number}", say("time-of", phases=PHASES[step.phase])),
                  (f"share{number}", common("share")))})
    table(deployments.apart([(PHASES[step.phase], step.parts) for step in taken]),
          {"what": common("part")} | {
              key: heading for number, step in enumerate(taken) for key, heading in (
                  (f"time{number}", labels[step.phase]), (f"share{number}", common("share")))},
          folded=say("every-part"))


def memory(page: Page) -> None:
    """Where the memory of the fullest device goes: a bar with its limits, and its parts."""
    found, capacity = page.quantities, page.inputs["memory_capacity"]
    replicated, redundant = (float(found[f"{part}_weights_per_device"])
                             for part in ("replicated", "redundant"))
    divided = float(found["weights_per_device"]) - replicated - redundant
    added = [(*label, float(found[name])) for name, label in ADDED.items()]
    loaded = sum(float(found[name]) for name in (
        "weights_per_device", "mtp_weights", "absorbed_copies_per_device"))
    added += [(*say("padding-of-loaded-weights"),
               (float(page.inputs["loading_overhead"]) - 1) * loaded),
              (*common("captured-graphs"), float(found["graph_memory"]))]
    parts = [
        (*say("weights-divided"), divided), (*say("weights-replicated"), replicated),
        *(part for part in added if part[-1] > 0),
        (*common("activations"), float(found["activations_per_device"])),
        (*common("runtime-reserve"), float(found["loading_reserve"] + found["workspaces"])),
        (*say("kv-cache-asked-for"), float(found["kv_per_device"]))]
    draw(lambda lang: _memory_bar(parts, float(found["usable_memory"]), capacity, lang))
    table([{"part": (english, chinese), "size": fmt_bytes(size),
            "share": fmt_percent(size / capacity)} for english, chinese, size in parts],
          {"part": common("part"), "size": common("size"), "share": say("of-device-memory")})
    if not page.inputs["activations_in_share"]:
        markdown(*say("engine-share-covers-weights-and"))
    for words in page.engine_words:
        markdown(*words)


def _memory_bar(parts: list[tuple[str, str, float]], usable: float, capacity: float, lang: str
                ) -> Drawing:
    """Stacked bar of the parts with the device's limits."""
    sizes = {(english, chinese): size for english, chinese, size in parts}
    marks = [(say("usable", usable=fmt_bytes(usable)), usable),
             (say("capacity", capacity=fmt_bytes(capacity)), capacity)]
    last = {common("activations"): COMPUTE, common("runtime-reserve"): HOST,
            common("captured-graphs"): HOST,
            say("kv-cache-asked-for"): CACHE}
    kinds = {name: last.get(name, LINKS if name == BUFFERS else WEIGHTS) for name in sizes}
    bar = Stack(say("needed-on-one-card"), fmt_bytes(sum(sizes.values())), sizes, marks=marks)
    return stacked_bars("memory-parts", lang, say("memory-of-one-card"), [bar], kinds, fmt_bytes)


def floor_under_decode(page: Page) -> None:
    """What a decode step reads, how long that takes at least, and how many experts it hits."""
    if "tpot" not in page.answers:
        markdown(*say("run-ends-with-first-token"))
        return
    found, inputs = page.quantities, page.inputs
    reading = sum(found[f"{name}_time"] for name, _ in READ)
    table([{"part": label, "bytes": fmt_bytes(float(found[f"{name}_bytes"])),
            "time": fmt_quantity(float(found[f"{name}_time"]), "s"),
            "share": f"{100 * float(found[f'{name}_time'] / reading):.0f}%"}
           for name, label in READ if found[f"{name}_bytes"] > 0],
          {"part": common("part"), "bytes": say("read-per-device"),
           "time": common("time"), "share": common("share")})
    floor, pace = page.deployed.answer.quantities["tpot_floor"], page.answers["tpot"]
    low, spread = floor.text, floor.reach
    share = fmt_percent(floor.value / pace.value, 0)
    markdown(*say("floor-is-per-token-interval", low=low, spread=spread, share=share))
    if inputs["draft_tokens"]:
        tokens = fmt_sig(float(found["tokens_per_step"]))
        markdown(*say("step-yields-tokens-per-request", tokens=tokens))
    if inputs["n_routed_experts"]:
        _experts_hit(page)
    if (off_cards := float(found["decode_host_expert_time"])) > 0:
        markdown(*say("experts-off-cards-take", time=fmt_quantity(off_cards, "s")))


def _experts_hit(page: Page) -> None:
    """How many experts a step hits, and how many it would with even routing and no drafts."""
    def counted(number: Any) -> str:
        return fmt_sig(float(number)) if number % 1 else fmt_int(number)

    found, inputs = page.quantities, page.inputs
    requests = float(found["expert_group_tokens"])
    total, even, hit = (counted(number) for number in (
        inputs["n_routed_experts"], found["distinct_experts"], found["decode_distinct_experts"]))
    context = fmt_quantity(float(found["decode_context_tokens"]), "token")
    said = [say("requests-of-step-hit", single=requests == 1, requests=fmt_int(requests), hit=hit,
                total=total, halves=bool(inputs["micro_batches"] > 1), context=context)]
    if hit != even:
        said.append(say("popular-experts-are-chosen", even=even,
                        drafts=bool(inputs["draft_tokens"] > 0)))
    markdown(*join((" ", ""), said))
