"""Tables of public packages brought into our columns: names, units; nothing is fitted.

``aiconfigurator-core`` and ``aisimulate`` (Apache-2.0) carry measured operators as
``systems/data/<card>/<family>/<engine>/<release>/<table>_perf.parquet``. ``aiconfigurator`` before
0.11, which has the tables of older releases, knows no families and ends some in ``.txt``. Only the
tables named in ``CONVENTIONS`` are opened: the packages hold results of whole systems besides,
which are not operators. What their columns mean was read from the programs that wrote them, the
collectors in https://github.com/ai-dynamo/aiconfigurator (commit 095f58a, ``collector/``); each
function says where.
"""

from catalogue.tables.packaged.conventions import CONVENTIONS
from catalogue.tables.packaged.finding import DISTRIBUTIONS, PackagedShelf, installed, is_packaged

__all__ = ["CONVENTIONS", "DISTRIBUTIONS", "PackagedShelf", "installed", "is_packaged"]
