"""The page of a device: its data with sources, and what its kernels and links were measured at."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import catalogue
from catalogue.entries.hardware import Device
from catalogue.reading.amounts import human
from catalogue.reading.values import Value
from notebooks.pages.catalogue.runs import formats_table
from notebooks.pages.catalogue.tables import hardware, mechanisms
from notebooks.show.display import Footnotes, citation, draw, show, sourced, table, written
from notebooks.show.numbers import fmt_bytes, fmt_fixed, fmt_percent, fmt_written

Text = tuple[str, str]
PHASES: dict[str, Text] = {
    "dispatch": ("dispatch", "分发"), "combine": ("combine", "合并"),
    "both": ("dispatch + combine", "分发+合并")}
MODES: dict[str, Text] = {"low-latency": ("low latency", "低延迟"), "normal": ("normal", "常规")}
RATE: dict[str, Text] = {
    "kernel": ("kernel", "算子"), "dtype": ("dtype", "数据类型"), "rows": ("rows", "行数"),
    "rate": ("median (range)", "中位数（范围）"), "share": ("share", "占比"),
    "samples": ("samples", "样本数"), "source": ("source", "来源")}
COLLECTIVE: dict[str, Text] = {
    "operation": ("operation", "操作"), "ranks": ("ranks", "rank 数"),
    "nodes": ("nodes", "服务器数"), "payload": ("payload", "数据量"), "time": ("time", "时间"),
    "rate": ("bus bandwidth", "总线带宽"), "algorithm": ("algorithm, path", "算法或路径"),
    "source": ("source", "来源")}
EXCHANGE: dict[str, Text] = {
    "phase": ("phase", "阶段"), "mode": ("mode", "模式"), "ranks": ("ranks", "rank 数"),
    "tokens": ("tokens per rank", "每 rank token 数"), "dtype": ("sent as", "传输数据类型"),
    "time": ("time", "时间"), "rate": ("bandwidth", "带宽"), "source": ("source", "来源")}


def at_a_glance(card: Device) -> None:
    """The card in a sentence: memory, bandwidth, peak, and where the one gives way to the other."""
    maker = hardware.vendor(card)
    by = f"{maker[1]} " if maker[1].isascii() else maker[1]
    if card.type == "host":
        speed = human(card.memory_bandwidth.value, "B/s", digits=4)
        show(f"A host processor by {maker[0]}. One socket reads its memory at **{speed}** at most.",
             f"{by}的主机处理器，单路内存带宽至多 **{speed}**。")
    else:
        _accelerator(card, maker[0], by)
    if card.note:
        show(card.note["en"], card.note["zh"])
    if card.dies and card.die:
        die = catalogue.load_device(card.die)
        show(f"Software sees {card.dies.value} devices, so a deployment names the die, "
             f"[{die.name['en']}]({die.id}.ipynb) (`{die.id}`), and counts dies.",
             f"软件看到的是 {card.dies.value} 个设备，因此部署文件应写单个 die，即"
             f"[{die.name['zh']}]({die.id}.ipynb)（`{die.id}`），数量按 die 计。")


def deployments(card: Device) -> None:
    """What runs on the card in this book, each with a link to its page; nothing if nothing does."""
    rows = []
    named = (name for name in catalogue.names("scenarios")
             if card.id in catalogue.devices_named(name))  # of the others nothing is read
    for family in map(catalogue.load_family, named):
        one = next((item for item in family.deployments if item.device.id == card.id), None)
        if one is not None:
            rows.append({"title": tuple(f"[{family.title[lang]}](#{family.id})"
                                        for lang in ("en", "zh")),
                         "model": (one.model.name["en"], one.model.name["zh"]),
                         "cards": one.devices,
                         "stored": (one.precision.name["en"], one.precision.name["zh"])})
    if not rows:
        show("No deployment of this book runs on it; [](#own) says how to compute one.",
             "本书尚无运行在这种卡上的部署；如何自行计算，见[](#own)。")
        return
    show("Deployments in this book that name this card; their pages say whether they load.",
         "本书中写明用这种卡的部署；能否加载，见各自的页面。")
    table(rows, {"title": ("deployment", "部署"), "cards": ("cards", "卡数"),
                 "model": ("model", "模型"), "stored": ("stored as", "存储精度")})


def _accelerator(card: Device, maker: str, by: str) -> None:
    peaks = {name: peak for name in hardware.WEIGHT_BYTES
             if (peak := getattr(card.matrix_peak, name))}
    dtype = next(name for name in ("bf16", "fp16", *peaks) if name in peaks)
    peak, ridge = fmt_written(peaks[dtype].written), hardware.ridge(card, dtype)
    assert ridge is not None  # of a dtype that has a peak
    assert card.memory_capacity  # every card has one, a host need not
    size, bandwidth = card.memory_capacity.value, card.memory_bandwidth.value
    memory = fmt_bytes(size, "GiB", 0 if size % 2**30 == 0 else 1)
    speed, once = human(bandwidth, "B/s", digits=4), fmt_fixed(size / bandwidth * 1e3, 0)
    rows = fmt_fixed(ridge * hardware.WEIGHT_BYTES[dtype] / 2, 0)
    what = "card" if card.dies is None else "package"
    show(f"A {what} by {maker}: **{memory}** of memory, read at **{speed}**, and **{peak}** of "
         f"dense {dtype.upper()}. Reading all of the memory once takes at least {once} ms. Below "
         f"about {rows} tokens, a {dtype.upper()} matmul is limited by memory; above, by the "
         f"matrix unit (ridge point: {fmt_fixed(ridge, 0)} FLOP/B).",
         f"{by}出品：显存 **{memory}**，带宽 **{speed}**，{dtype.upper()} 稠密算力 **{peak}**。"
         f"把显存完整读一遍至少需要 {once} ms。做 {dtype.upper()} 矩阵乘时，一步少于约 "
         f"{rows} 个 token 受限于显存带宽，多于此数受限于矩阵单元（脊点 {fmt_fixed(ridge, 0)} "
         "FLOP/B）。")


def values_and_sources(card: Device) -> None:
    """Every value of its file."""
    sourced(dict(hardware.values_of(card)).items(), wide=True)


def disagreements(card: Device) -> None:
    """Other figures that sources give for the same values."""
    disputed = hardware.disagreements(card)
    if not disputed:
        show("No other figures were found.", "未见其他数值。")
        return
    show("The factor is the other figure over the one that this book uses.",
         "“倍数”为另一数值除以本书采用值。")
    table(map(hardware.disputed_row, disputed), hardware.DISPUTED, wide=True)


def roofline(card: Device) -> None:
    """Attainable rate over operations per byte, with the matmuls measured on it."""
    if not hardware.levels_of(card):
        show("No peak rate of this processor has a source yet.", "该处理器的峰值算力尚无来源。")
        return
    measured = hardware.benchmarks(card)
    draw(hardware.roofline(card, measured))
    if hardware.matmuls(card, measured):
        show("Points are matmuls measured on this card, placed as if they read nothing but "
             "weights, at twice the rows over the bytes of a weight. A range can reach above the "
             "slope: one point stands for several numbers of rows, and small matrices stay in the "
             "L2 cache.",
             "点为本卡实测的矩阵乘，横坐标按只读权重计，即行数的两倍除以每个权重的字节数。范围可能"
             "越过斜线：一个点代表若干种行数，小矩阵又能留在 L2 缓存里。")


def kernels(card: Device) -> None:
    """What its kernels were measured to reach, or those of the card that stands in for it."""
    if card.type != "host":
        formats_table(card, folded=("Which precisions run on it, by which engine and kernel",
                                    "哪些精度能运行，由哪个引擎、哪个算子"))
    measured = hardware.benchmarks(card)
    if measured is None:
        show("No measurement of its kernels was found. The script of [](../../measure.md) makes "
             "one.", "未找到它的算子实测，可用[](../../measure.md)一页的脚本测出。")
        return
    origin = hardware.measured_on(measured, card)
    _where_measured(card, origin)
    if measured.note:
        show(measured.note["en"], measured.note["zh"])
    if measured.rates:
        show("Rows are those of the activations: tokens per expert of a grouped matmul or MoE "
             "block, requests of MLA in decode, tokens of a prompt in prefill. The share is that "
             "of the dense peak of the row's dtype, or for rates in bytes that of the bandwidth.",
             "“行数”指激活矩阵的行数：分组矩阵乘与 MoE 块为每专家 token 数，MLA 解码为请求数，MLA "
             "预填充为提示的 token 数。“占比”以该行数据类型的稠密峰值为分母；"
             "以字节计的速率以相应带宽为分母。")
        notes = Footnotes()
        marks = _marks(notes, (((rate.kernel, rate.dtype, rate.weights, rate.rate.unit), rate.rate)
                               for rate in measured.rates))
        _noted([_rate_row(rate, mark, origin)
                for rate, mark in zip(measured.rates, marks, strict=True)], RATE, notes)
    if measured.times:
        show("Costs that do not depend on the size of the work:", "与工作量无关的固定开销：")
        table([{"kernel": hardware.KERNELS[entry.kernel], "time": written(entry.time),
                "source": citation(entry.time)} for entry in measured.times],
              {"kernel": ("cost", "开销"), "time": ("time (range)", "时间（范围）"),
               "source": ("source", "来源")}, wide=True)


def _where_measured(card: Device, origin: Device) -> None:
    """On which card the rates were measured, where it is another one."""
    if card.die == origin.id:
        show(f"Measured on one die, [{origin.name['en']}]({origin.id}.ipynb); rates and shares "
             "are of one die.",
             f"以下在单个 die（[{origin.name['zh']}]({origin.id}.ipynb)）上测得，速率与占比均按"
             "单个 die 计。")
    elif origin is not card:
        show("Nothing was found for this very device: all rates were measured on "
             f"[{origin.name['en']}]({origin.id}.ipynb) and the shares are of what that one has. "
             "That this one reaches the same shares is an assumption.",
             f"没有找到本型号自己的实测：以下均在[{origin.name['zh']}]({origin.id}.ipynb)上测得，占比"
             "也以它的标称值为准。本型号能达到同样的占比，只是假设。")


def _marks(notes: Footnotes, entries: Iterable[tuple[Any, Value]]) -> Iterator[str]:
    """The footnote of each entry; one without a note of its own continues the one before."""
    last: dict[Any, Value] = {}
    for key, value in entries:
        if value.note or (key, value.source) not in last:
            last[key, value.source] = value
        yield notes.mark(last[key, value.source])


def _timed(time: Value | None, rate: Value | None, notes: Footnotes) -> dict[str, str]:
    """Time and rate of a message, of which an entry has at least one, and its footnote."""
    value = time or rate
    return {"time": written(time) if time else "", "rate": written(rate) if rate else "",
            "source": notes.mark(value) if value else ""}


def _rate_row(rate: Any, mark: str, origin: Device) -> dict[str, Any]:
    """A measured rate, and its share of what the card that it was measured on has."""
    share = rate.share(origin)
    return {"kernel": hardware.KERNELS[rate.kernel],
            "dtype": " · ".join(filter(None, [(rate.dtype or "").upper(), rate.weights])),
            "rows": hardware.rows_of(rate), "rate": written(rate.rate),
            "share": "" if share is None else fmt_percent(share, 0),
            "samples": rate.samples or "", "source": mark}


def _noted(rows: list[dict[str, Any]], columns: dict[str, Text], notes: Footnotes) -> None:
    """A table of measurements without its empty columns, and its footnotes."""
    table(rows, hardware.filled(rows, columns), sortable=True, wide=True)
    notes.show()


def collectives(card: Device) -> None:
    """Collectives and the exchange of experts, as measured."""
    measured = hardware.benchmarks(card)
    operations = measured.collectives if measured else []
    exchanges = measured.expert_exchange if measured else []
    if operations:
        show("Bus bandwidth is payload over time, times 2(n − 1)/n for all-reduce and (n − 1)/n "
             "for all-gather, reduce-scatter and all-to-all; n is the number of ranks.",
             "总线带宽（bus bandwidth）为数据量除以时间，all-reduce 再乘 2(n − 1)/n，all-gather、"
             "reduce-scatter 与 all-to-all 再乘 (n − 1)/n；n 为 rank 数。")
        notes = Footnotes()
        _noted([{"operation": entry.operation, "ranks": entry.ranks, "nodes": entry.nodes,
                 "payload": entry.payload.written if entry.payload else "",
                 "algorithm": entry.algorithm or "",
                 **_timed(entry.time, entry.bus_bandwidth, notes)}
                for entry in operations], COLLECTIVE, notes)
    if exchanges:
        show("The all-to-all of a mixture of experts (MoE): dispatch sends tokens to their "
             "experts, combine brings the results back. Times and rates are per rank.",
             "混合专家（MoE）的 all-to-all：分发（dispatch）把 token 送往专家，合并（combine）把"
             "结果取回。时间与带宽均按每个 rank 计。")
        notes = Footnotes()
        _noted([{"phase": PHASES[entry.phase], "mode": MODES[entry.mode], "ranks": entry.ranks,
                 "tokens": entry.tokens, "dtype": (entry.dtype or "").upper(),
                 **_timed(entry.time, entry.bandwidth, notes)} for entry in exchanges],
               EXCHANGE, notes)
    if card.type == "host":
        show("A host processor takes part in neither.", "主机处理器不参与这两类通信。")
    elif not operations and not exchanges:
        show("None was found for this card.", "未找到该卡的数据。")


def _sharing(identifier: str) -> int:
    """How many devices of the catalogue take the same mechanisms."""
    priors = (mechanisms.of_device(catalogue.load_device(name))
              for name in catalogue.names("devices"))
    return sum(prior is not None and prior.id == identifier for prior in priors)


def priors_of_mechanisms(card: Device) -> None:
    """The mechanisms that an estimate takes for it, with ranges and sources."""
    priors = mechanisms.of_device(card)
    if priors is None:
        show("There are none for a device of this type.", "没有适用于这类设备的机制参数。")
        return
    sharing = _sharing(priors.id)
    if card.mechanisms is None or sharing > 1:
        show(f"The values apply to the class *{priors.name['en']}*, which covers {sharing} devices "
             "of the catalogue.",
             f"以下为一类设备共用的取值：{priors.name['zh']}，目录中有 {sharing} 种设备采用。")
    if priors.note:
        show(priors.note["en"], priors.note["zh"])
    sourced(mechanisms.rows(priors), wide=True, folded=("Every mechanism", "全部机制参数"))
