"""A part of a sweep says of every one of its bytes whether it is as it was written."""

import pytest

import catalogue
from calc.sweeping.axes import axis
from calc.sweeping.definition import Sweep
from calc.sweeping.parts import Folder
from calc.sweeping.plan import planned
from calc.sweeping.running import swept

AXES = (axis("workload.concurrency", "1..40", ""), axis("precision", "fp8-block, w4a16-awq", ""))


@pytest.mark.parametrize("sweep", [
    Sweep("h200-r1-vllm-tp8", AXES),
    Sweep("h200-r1-vllm-tp8", AXES, every=True, quantities=("tpot",))])
def test_no_byte_can_be_another_unseen(tmp_path, sweep):
    """Nor one that no column is read from: what was counted, what the part says of itself."""
    swept(sweep, tmp_path, workers=1)
    part, = tmp_path.iterdir()
    folder, whole = Folder(tmp_path, planned(sweep)), part.read_bytes()
    assert folder.read(0)[1].rows == 80
    for place in range(0, len(whole), 23):
        part.write_bytes(whole[:place] + bytes([whole[place] ^ 1]) + whole[place + 1:])
        with pytest.raises(catalogue.ParamsError, match=r"remove it"):
            folder.read(0)
