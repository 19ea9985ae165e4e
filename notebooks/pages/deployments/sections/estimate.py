"""The estimate: what a user sees, what a step is made of, where the memory goes, and the floor."""

from __future__ import annotations

from typing import Any

from calc.answer.steady_state import STEADY
from calc.closed_form.validity import DOUBTS
from calc.evidence.classes import Own
from calc.evidence.classes import named as named_class
from catalogue.reading.amounts import span
from notebooks.pages.catalogue.tables import deployments
from notebooks.pages.catalogue.tables.deployments import RESOURCES, named
from notebooks.pages.deployments.sections.page import Page
from notebooks.show import stacks
from notebooks.show.display import draw, show, table
from notebooks.show.drawing import Drawing
from notebooks.show.numbers import fmt_bytes, fmt_int, fmt_percent, fmt_quantity, fmt_sig
from notebooks.show.stacks import Stack

PHASES = {"decode": ("a decode step", "解码步"), "prefill": ("a chunk of prefill", "预填充块")}
SHORT = {"decode": ("decode", "解码"), "prefill": ("prefill", "预填充")}
READ = [("decode_dense", ("weights of every step", "每步必读的权重")),
        ("decode_expert", ("experts that are hit", "命中的专家")),
        ("decode_kv", ("KV cache", "KV 缓存"))]
ADDED = {"redundant_weights_per_device": ("redundant experts", "冗余专家"),
         "mtp_weights": ("prediction layer (MTP)", "预测层（MTP）"),
         "absorbed_copies_per_device": ("absorbed copies", "吸收矩阵副本"),
         "exchange_buffers": ("all-to-all buffers", "all-to-all 缓冲")}


def times_and_rates(page: Page) -> None:
    """What users see, in closed form and, where many requests are sent, replayed step by step."""
    answers = dict(page.answers)
    if "ttft" in answers and page.quantities["requests_per_rank"] > 1:
        answers = {"prefill_time": page.deployed.quantity("prefill_time")} | answers
    replay = page.deployed.replayed
    columns = {"what": ("quantity", "量"), "value": ("estimate", "估计值"),
               "reach": ("80% interval", "80% 区间")}
    rows = [{"what": named(name), "value": answer.text, "reach": answer.reach,
             **({"replay": replay[name].text, "again": replay[name].reach}
                if name in replay else {}),
             **dict.fromkeys(("replay", "again") if replay and name not in replay else (), "–")}
            for name, answer in answers.items()]
    rows += _steady(page) if "ttft" in answers and "tpot" in answers else []
    if replay:
        columns |= {"value": ("one wave of equal requests", "一批等长请求"),
                    "replay": ("the run, replayed", "逐步重放"),
                    "again": ("80% interval", "80% 区间")}
    table(rows, columns)
    _doubted(page)
    _measured(page)
    if replay:
        uneven = bool(page.deployed.seen and page.deployed.seen.unequal & set(page.deployed.asked))
        show("The benchmark sends many requests at once. Its run is therefore also replayed, step "
             "by step, with the same step times" + (
                 ", its requests of many lengths, of which only the mean is known, drawn from an "
                 "exponential distribution" if uneven else "")
             + "; the closed form knows one wave of requests of equal length.",
             "该测试一次发出大量请求，因此另按同样的每步用时逐步重放整个过程"
             + ("；各请求长短不一而只知平均值，按指数分布抽取" if uneven else "")
             + "。闭式公式只描述一批等长的请求。")


def _doubted(page: Page) -> None:
    """Why the closed form of the steady state does not hold, where it does not; a sentence."""
    lasting, seen = page.deployed.answer.lasting, page.deployed.answer.seen
    if lasting is None or not lasting.doubts:
        return
    en, zh = ("; ".join(DOUBTS[name][0] for name in lasting.doubts),
              "；".join(DOUBTS[name][1] for name in lasting.doubts))
    if seen is None:
        show(f"The closed form of the steady state does not hold here: {en}. It could not be "
             "simulated in a few seconds; `simulate` takes longer.",
             f"稳态的闭式在此不成立：{zh}。几秒内仿真不完；可用 `simulate` 慢慢算。")
        return
    count = f"{seen.summary.requests:,}"
    show(f"The closed form of the steady state does not hold here: {en}. Its numbers are the means "
         f"of {count} simulated requests.",
         f"稳态的闭式在此不成立：{zh}。表中稳态各值为 {count} 个仿真请求的均值。")


def _steady(page: Page) -> list[dict[str, Any]]:
    """Rows of a steady state, in which users ask again after each answer, beside those of a wave.

    Args:
        page: of a deployment that prefills and decodes.
    """
    found = page.deployed.answer.told
    return [{"what": named(name), "value": fmt_quantity(found[name].value, found[name].unit),
             "reach": f"{fmt_quantity(found[name].low, found[name].unit)} – "
                      f"{fmt_quantity(found[name].high, found[name].unit)}"}
            for name in STEADY if name in found]


def _measured(page: Page) -> None:
    """Of which class of systems the intervals are, and how many of its rows lay inside."""
    of: dict[str, dict[str, Own]] = {}
    for name, own in page.deployed.own_errors.items():
        if name in page.answers:
            of.setdefault(own.of, {})[name] = own
    if not of:
        return
    en, zh = (mark.join(
        f"{named_class(name)[at]}{colon}" + comma.join(
            f"{named(quantity)[at]} {own.inside}/{own.rows}"
            + alike.format(named(own.metric)[at]) * (own.metric != quantity)
            for quantity, own in counts.items())
        for name, counts in of.items())
        for at, (mark, colon, comma, alike) in enumerate((
            ("; ", ": ", ", ", ", as {}"), ("；", "：", "，", "，同{}"))))
    show("Measured rows inside their 80% intervals, for the class of systems that gives the "
         f"formulas' own error ([how](#validation-coverage)): {en}.",
         "公式自身误差所取的类别，及该类实测行落入各自 80% 区间的数目"
         f"（[算法](#validation-coverage)）：{zh}。")


def steps(page: Page) -> None:
    """What a decode step and a chunk of prefill are made of, and what binds them."""
    size = fmt_quantity(float(page.quantities["prefill_tokens"]), "token")
    whole = float(page.quantities["prefill_tokens"]) == page.inputs["input_tokens"]
    labels = {"decode": ("time per output token", "每输出 token 时间"),
              "prefill": (f"prefill, {'one prompt' if whole else 'a chunk'} of {size} tokens",
                          f"预填充，一{'条' if whole else '块'} {size} token{' 提示' * whole}")}
    taken = page.deployed.steps
    draw(deployments.bars([(labels[step.phase], SHORT[step.phase], step.parts) for step in taken]))
    hidden = max(-1e3 * sum(float(step.parts[name]) for name in deployments.HIDDEN)
                 for step in taken)
    if hidden > 0:
        show("Dashed: time that overlap hides, or that the path for one token saves.",
             "虚线框：其中被重叠掩盖、或由单 token 路径省去的时间。")
    to = f"(#{page.family.id}-floor)"
    floor = (f"; the [floor]{to} has the reading alone", f"；[下界]{to}只含读取") if (
        "tpot" in page.answers) else ("", "")
    binds = {step.binding: [PHASES[other.phase] for other in taken
                            if other.binding == step.binding] for step in taken}
    show("The largest share of the time is bound by " + ", and ".join(
             f"**{RESOURCES[by][0]}** in {' and in '.join(phase[0] for phase in of)}"
             for by, of in binds.items()) + ". An operator counts whole for reading or for "
         f"arithmetic, by its operations per byte{floor[0]}.",
         "耗时最多的瓶颈：" + "，".join(
             f"{'与'.join(phase[1] for phase in of)}为{' ' * RESOURCES[by][1][0].isascii()}"
             f"**{RESOURCES[by][1]}**" for by, of in binds.items())
         + f"。每个算子按每字节运算量整个计入读取或计算{floor[1]}。")
    table(deployments.binding([(PHASES[step.phase], step.bound) for step in taken]),
          {"what": ("bound by", "受限于")} | {
              key: heading for number, step in enumerate(taken) for key, heading in (
                  (f"time{number}", (f"time of {PHASES[step.phase][0]}",
                                     f"{PHASES[step.phase][1]}时间")),
                  (f"share{number}", ("share", "占比")))})
    table(deployments.apart([(PHASES[step.phase], step.parts) for step in taken]),
          {"what": ("part", "部分")} | {
              key: heading for number, step in enumerate(taken) for key, heading in (
                  (f"time{number}", labels[step.phase]), (f"share{number}", ("share", "占比")))},
          folded=("Every part", "逐项"))


def memory(page: Page) -> None:
    """Where the memory of the fullest device goes: a bar with its limits, and its parts."""
    found, capacity = page.quantities, page.inputs["memory_capacity"]
    replicated, redundant = (float(found[f"{part}_weights_per_device"])
                             for part in ("replicated", "redundant"))
    divided = float(found["weights_per_device"]) - replicated - redundant
    added = [(*label, float(found[name])) for name, label in ADDED.items()]
    parts = [
        ("weights, divided", "权重（切分）", divided),
        ("weights, replicated", "权重（每卡一份）", replicated),
        *(part for part in added if part[-1] > 0),
        ("activations", "激活", float(found["activations_per_device"])),
        ("runtime reserve", "运行时预留", float(page.inputs["runtime_reserve"])),
        ("KV cache asked for", "所需 KV 缓存", float(found["kv_per_device"])),
    ]
    draw(lambda lang: _memory_bar(parts, float(found["usable_memory"]), capacity, lang))
    table([{"part": (english, chinese), "size": fmt_bytes(size),
            "share": fmt_percent(size / capacity)} for english, chinese, size in parts],
          {"part": ("part", "部分"), "size": ("size", "大小"),
           "share": ("of the device's memory", "占单卡显存")})
    if not page.inputs["activations_in_share"]:
        show("The engine's share covers weights and cache; activations, buffers and the runtime's "
             "own lie outside of it and are counted as usable here.",
             "引擎的可用比例只包括权重与缓存；激活、缓冲与运行时预留在此比例之外，这里一并计入可用显存。")


def _memory_bar(parts: list[tuple[str, str, float]], usable: float, capacity: float, lang: str
                ) -> Drawing:
    """Stacked bar of the parts with the device's limits."""
    sizes = {(english, chinese): size for english, chinese, size in parts}
    marks = [((f"usable {fmt_bytes(usable)}", f"可用 {fmt_bytes(usable)}"), usable),
             ((f"capacity {fmt_bytes(capacity)}", f"容量 {fmt_bytes(capacity)}"), capacity)]
    bar = Stack(("needed on one card", "单卡所需"), fmt_bytes(sum(sizes.values())), sizes,
                marks=marks)
    return stacks.draw("memory-parts", lang, ("Memory of one card", "单卡显存"), [bar],
                       tuple(sizes), fmt_bytes)


def floor_under_decode(page: Page) -> None:
    """What a decode step reads, how long that takes at least, and how many experts it hits."""
    if "tpot" not in page.answers:
        show("The run ends with the first token; there is no decode step.",
             "运行到首 token 为止，没有解码步。")
        return
    found, inputs = page.quantities, page.inputs
    reading = sum(found[f"{name}_time"] for name, _ in READ)
    table([{"part": label, "bytes": fmt_bytes(float(found[f"{name}_bytes"])),
            "time": fmt_quantity(float(found[f"{name}_time"]), "s"),
            "share": f"{100 * float(found[f'{name}_time'] / reading):.0f}%"}
           for name, label in READ if found[f"{name}_bytes"] > 0],
          {"part": ("part", "部分"), "bytes": ("read per device", "单卡读取量"),
           "time": ("time", "时间"), "share": ("share", "占比")})
    floor, pace = page.deployed.answer.quantities["tpot_floor"], page.answers["tpot"]
    low, spread = fmt_quantity(floor.value, "s"), span(floor.low, floor.high, "s")
    share = fmt_percent(floor.value / pace.value, 0)
    show(f"The floor is {low} per token (80% interval {spread}), {share} of the estimate.",
         f"下界为每 token {low}（80% 区间 {spread}），是估计值的 {share}。")
    if inputs["draft_tokens"]:
        tokens = fmt_sig(float(found["tokens_per_step"]))
        show(f"A step yields {tokens} tokens per request, so its time counts for as many.",
             f"一步为每个请求产出 {tokens} 个 token，一步的时间按这么多个 token 平均。")
    if inputs["n_routed_experts"]:
        _experts_hit(page)
    if inputs["offloaded_share"]:
        show("Experts on the host are not read by the card and not in this floor.",
             "主机上的专家不由卡读取，不计入此下界。")


def _experts_hit(page: Page) -> None:
    """How many experts a step hits, and how many it would with even routing and no drafts."""
    def counted(number: Any) -> str:
        return fmt_sig(float(number)) if number % 1 else fmt_int(number)

    found, inputs = page.quantities, page.inputs
    requests = float(found["expert_group_tokens"])
    total, even, hit = (counted(number) for number in (
        inputs["n_routed_experts"], found["distinct_experts"], found["decode_distinct_experts"]))
    context = fmt_quantity(float(found["decode_context_tokens"]), "token")
    single, drafts = requests == 1, inputs["draft_tokens"] > 0
    halves = inputs["micro_batches"] > 1
    who = "A single request hits" if single else f"The {fmt_int(requests)} requests of a step hit"
    en = (f"{who} {hit} of the {total} experts of a layer{' on average' * (not single)}"
          f"{' in each half-batch' * halves}; {'it' if single else 'each'} is taken to have "
          f"{context} tokens of context.")
    who = "单个请求每步" if single else f"一步中的 {fmt_int(requests)} 个请求平均"
    zh = (f"{who}{'在每个半批中' * halves}命中每层 {total} 个专家中的 {hit} 个；"
          f"{'' if single else '每个请求的'}上下文按 {context} 个 token 计。")
    if hit != even:
        en += (f" Popular experts are chosen more often{', and drafts are checked too' * drafts}; "
               f"uniform routing{' without drafts' * drafts} would hit {even}.")
        zh += (f"其中热门专家更常被选中{'，并计入待校验的草稿' * drafts}；若{'不用草稿且' * drafts}"
               f"各专家机会均等，则为 {even} 个。")
    show(en, zh)
