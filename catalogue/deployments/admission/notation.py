"""How a layout is written: servers, and of one server how attention and experts are cut."""

from __future__ import annotations

from catalogue.deployments.admission.subject import Cut, Text
from catalogue.messages import by_language, messages

say = messages("catalogue/deployments/admission/notation")


def one_server(cut: Cut) -> str:
    """A server's ranks: attention before the stroke, experts behind it.

    >>> one_server(Cut(8, 1, 2, 8, spares=8)), one_server(Cut(1, 2, 16, 16)), one_server(Cut(8))
    ('TP8/EP8+8', 'TP1×PP2×DP16/EP16', 'TP8')
    """
    text = f"TP{cut.tensor}" + f"×PP{cut.pipeline}" * (cut.pipeline > 1)
    text += f"×DP{cut.joined}" * (cut.joined > 1) + f"/DCP{cut.context}" * (cut.context > 1)
    experts = [f"EP{cut.expert}" + f"+{cut.spares}" * bool(cut.spares)] * (cut.expert > 1)
    sliced = cut.slices > 1 and (cut.expert > 1 or cut.joined > 1)
    experts += [f"ETP{cut.slices}"] * sliced
    return text + f"/{'×'.join(experts)}" * bool(experts)


def written(cut: Cut) -> Text:
    """A layout in both languages.

    >>> written(Cut(8, 1, 2, 8, spares=8))
    {'en': '2 replicas of TP8/EP8+8', 'zh': '2 个实例，各 TP8/EP8+8'}
    >>> written(Cut(8, 1, 2, 16))["en"]
    'TP8×DP2/EP16'

    Args:
        cut: that divides the model.
    """
    server, count = one_server(cut), cut.data // cut.joined
    if count == 1:
        return {"en": server, "zh": server}
    return by_language(say("servers-of", count=count, server=server))
