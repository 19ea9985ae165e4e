"""Laws that contradict others: by tables made up of a law whose latency a release raises."""

import pytest

import catalogue
from kernels.fitting import Errors, Fitted
from kernels.matmuls import DENSE
from kernels.rejection import checked, fixed_time
from kernels.writing import FIXED, FittedTable, used_fits

H200 = catalogue.load_device("nvidia-h200-sxm")
PRIORS = catalogue.load("mechanisms", "nvidia-h200")
VALUES = {"gemm_efficiency": 0.6, "matmul_latency": 4e-6, "depth_latency": 1.5e-9,
          "activation_traffic": 2.0}


def table(release, **values):
    """Of dense matmuls, as fitted."""
    errors, known = Errors(100, 0.0, 0.05, 0.2), VALUES | values
    fit = Fitted(DENSE, known, {name: (0.9 * value, 1.1 * value) for name, value in known.items()},
                 100, errors, {1: errors})
    return FittedTable(release, "gemm", "mine", "fp8-block", "fp8", fit)


def releases(*latencies):
    return [table(f"1.{at}.0", matmul_latency=latency * 1e-6, activation_traffic=2.0 + at)
            for at, latency in enumerate(latencies)]


@pytest.mark.parametrize(("latencies", "rejected"), [
    ([4, 4, 4], {}), ([4, 7, 4], {}), ([4, 20, 4], {1: "1.0.0"}), ([20, 4, 4], {0: "1.1.0"}),
    ([20, 30, 4], {0: "1.2.0", 1: "1.2.0"}), ([4, 20, 60], {1: "1.0.0", 2: "1.0.0"}), ([20], {})])
def test_releases_twice_their_neighbour_are_rejected(latencies, rejected):
    found = checked(releases(*latencies), H200, PRIORS)
    assert {at: each.instead.release for at, each in enumerate(found)
            if each.rejected} == rejected
    for each in found:
        used = {name: fit.values[name] for name, fit in used_fits(each).items()}
        own = each.fit.values
        assert {name: used[name] for name in own.keys() - FIXED} == {
            name: own[name] for name in own.keys() - FIXED}  # what it says of many tokens stands
        fixed = (each.instead or each).fit.values
        assert used["matmul_latency"] == fixed["matmul_latency"]


def test_factor_is_that_of_the_fixed_times():
    _, law, _ = tables = releases(4, 20, 4)
    made = checked(tables, H200, PRIORS)[1].rejected
    assert (made.reason, made.against) == ("neighbour", "1.0.0")
    assert made.factor == pytest.approx(fixed_time(law, H200, PRIORS)
                                        / fixed_time(tables[0], H200, PRIORS))
