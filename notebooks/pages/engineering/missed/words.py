"""Where a law misses a table and by how much, as a cell of a table on a page has it."""

from __future__ import annotations

from catalogue.entries.profiles import Missed, Shapes
from notebooks.show.numbers import fmt_fixed, fmt_int, fmt_sig

Text = tuple[str, str]
COLUMNS: dict[str, Text] = {
    "rows": ("rows", "行数"), "columns": ("outputs", "输出数"), "depth": ("inputs", "输入数"),
    "weights": ("elements of the weight", "权重元素数"),
    "outputs": ("rows × outputs", "行数 × 输出数"), "tokens": ("tokens", "token 数"),
    "hidden_size": ("hidden size", "隐藏维度"),
    "moe_intermediate_size": ("expert width", "专家宽度"),
    "width": ("slice width", "切片宽度"), "n_routed_experts": ("experts", "专家数"),
    "num_experts_per_tok": ("experts per token", "每 token 专家数"),
    "tensor_parallel": ("slices", "切片数"),
    "expert_parallel": ("ranks of experts", "专家 rank 数"),
    "skew": ("unevenness of routing", "路由不均匀度"),
    "rows_of_expert": ("rows per expert", "每专家行数"),
    "rows_of_rank": ("rows of the rank", "本 rank 行数"), "heads": ("heads", "头数"),
    "batch": ("requests", "请求数"), "context": ("context", "上下文长度"),
    "element_bytes": ("bytes of a cached element", "缓存每元素字节数"),
    "positions": ("positions", "位置数"), "ranks": ("ranks", "rank 数"),
    "nodes": ("servers", "服务器数"), "bytes": ("bytes of a rank", "每 rank 字节数"),
    "bytes_of_all": ("bytes of all ranks", "全部 rank 字节数"),
    "token_bytes": ("bytes of a token", "每 token 字节数"), "shape": ("shapes", "形状")}
OTHER = ("another kernel", "另一算子")
# small weights stay in a cache from run to run of a table, which looks the same
WEIGHTS, KEPT = "weights", ("another kernel or the L2", "另一算子或 L2")
UNNAMED = ("too few rows to say", "行数太少，无法判断")
MANY = 1000  # from which on a value that is not whole is shown as if it were


def why(missed: Missed | None) -> Text:
    """Switches with their factors, and what is missed beside them.

    Args:
        missed: of a table that the law misses; None where nothing is said of it.
    """
    if missed is None:
        return UNNAMED
    parts = [(f"{KEPT[0] if each.column == WEIGHTS else OTHER[0]}: {_place(each, 0)} "
              f"({_times(each.factor)})",
              f"{KEPT[1] if each.column == WEIGHTS else OTHER[1]}：{_place(each, 1)}"
              f"（{_times(each.factor)}）") for each in missed.switches]
    rest = missed.rest
    if rest and rest.how == "trend":
        parts.append((f"lean along {_place(rest, 0)} ({_times(rest.factor)})",
                      f"逐步偏离：{_place(rest, 1)}（{_times(rest.factor)}）"))
    elif rest:
        parts.append((f"scatter along {_place(rest, 0)} ({_times(rest.factor)})",
                      f"不规则：{_place(rest, 1)}（{_times(rest.factor)}）"))
    return "; ".join(part[0] for part in parts), "；".join(part[1] for part in parts)


def _times(factor: float) -> str:
    return f"{fmt_fixed(factor, 2)}×"


def _place(shapes: Shapes, lang: int) -> str:
    """A column with its ends, and of which shapes."""
    name = COLUMNS.get(shapes.column, (shapes.column,) * 2)[lang]
    first, last = (None if end is None else _value(end) for end in (shapes.first, shapes.last))
    if first is None and last is None:
        place = name
    elif last is None:
        place = f"{name} ≥ {first}"
    elif first is None:
        place = f"{name} ≤ {last}"
    else:
        place = f"{name} {first}" if first == last else f"{name} {first}–{last}"
    where = getattr(shapes, "where", None)
    return place + ((", " if lang == 0 else "，") + _place(where, lang) if where else "")


def _value(value: float) -> str:
    """Of a column: whole, or to a few digits."""
    return fmt_int(round(value)) if value == round(value) or value >= MANY else fmt_sig(value)
