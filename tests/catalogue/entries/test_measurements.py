"""The evidence: what its columns must satisfy among each other, and what a file may not say."""

from __future__ import annotations

import math

import pytest
import yaml
from _plain import plain

import catalogue
from catalogue import ParamsError
from catalogue.library import names

METRICS = {"ttft", "tpot", "tpot_printed", "itl", "e2e", "output_throughput", "total_throughput",
           "prefill_rate", "prefill_throughput"}
WORKLOAD = ("input_tokens", "output_tokens", "concurrency")
EVERY = names("measurements")
BURSTS = [name for name in EVERY if name.startswith("h200-")]


def table(name):
    """Rows of a file as dictionaries, in SI units."""
    entry = catalogue.load_measurements(name)
    columns = [entry.column(column) for column in entry.columns]
    return [dict(zip(entry.columns, row, strict=True)) for row in zip(*columns, strict=True)]


def half(step):
    """Largest error of a number printed in steps."""
    return step / 2 * (1 + 1e-9)


def test_what_was_measured_of_a_deployment_bears_its_name():
    measured = {name: catalogue.load_scenario(name).file.measured
                for name in catalogue.deployment_names()}
    assert {name: file for name, file in measured.items() if file not in (None, name)} == {}


class TestEveryFile:
    """What holds whatever was measured."""

    @pytest.mark.parametrize("name", EVERY)
    def test_columns_are_known_and_defined(self, name):
        entry = catalogue.load_measurements(name)
        assert set(entry.columns) <= METRICS | {*WORKLOAD, "requests"}
        assert set(WORKLOAD) <= set(entry.columns)
        assert METRICS & set(entry.columns)
        assert set(entry.columns) == set(entry.definitions)

    @pytest.mark.parametrize("name", EVERY)
    def test_a_row_has_its_workload_and_some_metric(self, name):
        for row in table(name):
            assert not any(math.isnan(row[column]) for column in WORKLOAD)
            assert any(not math.isnan(row[column]) for column in METRICS & set(row))
            assert row["concurrency"] <= row.get("requests", math.inf)

    @pytest.mark.parametrize("name", EVERY)
    def test_a_scenario_of_the_same_name_has_one_of_the_rows(self, name):
        if name == "kt-4090-v021-6experts":
            assert name not in names("scenarios")
            return
        scenario = catalogue.load_scenario(name)
        asked = scenario.file.workload
        assert scenario.file.measured == name
        assert any(abs(row["input_tokens"] - asked.input_tokens.value) <= 0.5 + 1e-9
                   and abs(row["output_tokens"] - asked.output_tokens.value) <= 1
                   and row["concurrency"] == asked.concurrency.value for row in table(name))
        assert (asked.requests is not None) == (name in BURSTS)


class TestS2:
    """Two engines on eight 910B1."""

    @pytest.mark.parametrize("name", ["s2-910b1-awq", "s2-other-engine"])
    def test_throughput_follows_from_the_times(self, name):
        """As far as the rounding of all three columns allows, and 0.1% (the source computes with
        the means of what it does not print)."""
        checked = 0
        for row in table(name):
            if math.isnan(row.get("output_throughput", math.nan)):
                continue
            time = row["ttft"] + (row["output_tokens"] - 1) * row["tpot"]
            made = row["concurrency"] * row["output_tokens"]
            error = half(1e-3) + (row["output_tokens"] - 1) * half(0.1e-3)
            low, high = 0.999 * made / (time + error), 1.001 * made / (time - error)
            assert low - half(0.1) <= row["output_throughput"] <= high + half(0.1)
            checked += 1
        assert checked == {"s2-910b1-awq": 30, "s2-other-engine": 3}[name]

    def test_latency_is_the_sum_of_its_parts(self):
        for row in table("s2-910b1-awq"):
            time = row["ttft"] + (row["output_tokens"] - 1) * row["tpot"]
            assert row["e2e"] == pytest.approx(time, abs=0.1 + 511 * half(0.1e-3))

    def test_suspect_rows(self):
        entry = catalogue.load_measurements("s2-910b1-awq")
        assert list(entry.suspect_rows) == [13, 26, 27, 28, 29, 30]


class TestS3:
    """Two 910B4 with the experts on the host."""

    def test_throughput_is_what_the_latency_leaves(self):
        """In all rows, to the rounding of both; the requests of a run are sent at once."""
        rows = table("s3-hybrid-910b4")
        assert len(rows) == 18
        for row in rows:
            made = row["requests"] * row["output_tokens"]
            low, high = (made / (row["e2e"] + sign * half(0.01)) for sign in (1, -1))
            assert low - half(0.01) <= row["output_throughput"] <= high + half(0.01)

    def test_time_per_token_is_derived_as_defined(self):
        for row in table("s3-hybrid-910b4"):
            derived = (row["e2e"] - row["ttft"]) / (row["output_tokens"] - 1)
            assert row["tpot"] == pytest.approx(derived, abs=half(0.01e-3))

    def test_the_printed_time_per_token_contradicts_them(self):
        """More than rounding to 10 ms explains, in most rows; in one by a factor of two."""
        rows = table("s3-hybrid-910b4")
        off = [row["tpot_printed"] / row["tpot"] - 1 for row in rows]
        beyond = [row for row in rows if abs(row["tpot_printed"] - row["tpot"]) > half(10e-3)]
        assert len(beyond) == 10
        assert max(off) == pytest.approx(1.0, abs=0.01)


class TestBursts:
    """Many prompts at once on H200."""

    @pytest.mark.parametrize("name", BURSTS)
    def test_both_throughputs_are_of_one_run(self, name):
        """Total over output throughput is (input + output)/output, to the printed digits."""
        for row in table(name):
            ratio = (row["input_tokens"] + row["output_tokens"]) / row["output_tokens"]
            slack = half(0.01) / row["output_throughput"] + 1e-5
            assert row["total_throughput"] / row["output_throughput"] == pytest.approx(
                ratio, rel=slack)

    @pytest.mark.parametrize("name", BURSTS)
    def test_no_request_is_in_flight_more_than_the_throughput_allows(self, name):
        """Little's law: mean latency x rate is at most the requests there are."""
        for row in table(name):
            if math.isnan(row.get("ttft", math.nan)):
                continue
            tpot = min(row["tpot"], row.get("itl", math.inf))
            latency = row["ttft"] + (row["output_tokens"] - 1) * tpot
            at_once = latency * row["output_throughput"] / row["output_tokens"]
            assert at_once <= 1.02 * row["requests"]

    def test_drafts_are_served_to_the_engine_s_limit(self):
        """With drafts 48 requests are in flight, so TPOT and throughput agree."""
        for name in ("h200-r1-sglang-mtp", "h200-v32-sglang-mtp"):
            row, = table(name)
            assert row["concurrency"] == 48
            assert row["output_throughput"] * row["tpot"] == pytest.approx(48, rel=0.08)


class TestPeers:
    """What another tool predicts stands apart from what was measured."""

    @pytest.mark.parametrize(("name", "errors"), [
        ("h800-profile-prefill", [0.152]), ("h800-profile-decode", [0.151]),
        ("h20-qwen3-30b", [-0.043, 0.045]), ("h20-qwen3-30b-prefill", [0.046]),
        ("h20-qwen3-8b", [0.084, -0.038])])
    def test_errors(self, name, errors):
        entry, rows = catalogue.load_measurements(name), table(name)
        found = [peer.value.value / rows[peer.row - 1][peer.metric] - 1
                 for peer in entry.peer_predictions]
        assert found == pytest.approx(errors, abs=1e-3)

    @pytest.mark.parametrize("name", ["h800-profile-prefill", "h20-qwen3-30b-prefill"])
    def test_one_step_of_prefill(self, name):
        row, = table(name)
        assert row["ttft"] * row["prefill_rate"] == pytest.approx(
            row["concurrency"] * row["input_tokens"], rel=1e-4)

    @pytest.mark.parametrize("name", ["h800-profile-decode", "h20-qwen3-30b"])
    def test_one_step_of_decode(self, name):
        row, = table(name)
        assert row["tpot"] * row["output_throughput"] == pytest.approx(
            row["concurrency"], rel=1e-3)


class TestBlind:
    """What was predicted before a measurement was known is kept as it was."""

    @pytest.mark.parametrize(("name", "row", "per_card"), [
        ("wide-lmsys-prefill", 3, (6979.4, 4846.25, 7960.25)),
        ("wide-ant-ep32", 2, (614.61, 443.64, 694.94)),
        ("wide-rtp-decode", 1, (1836.6, 1215.2, 2022.8)),
        ("wide-vllm-decode-ep96", 1, (3012.6, 1940.5, 3326.3)),
        ("wide-cloudmatrix-decode", 2, (120.085, 94.255, 156.93))])
    def test_values_are_those_that_were_written_down(self, name, row, per_card):
        """Per card and second, as at the commit that the table names; a package has two cards."""
        made = next(one for one in catalogue.load_measurements(name).blind.predictions
                    if one.row == row)
        parallel = catalogue.load_scenario(name).inputs()
        cards = parallel["data_parallel"] * parallel["tensor_parallel"]
        assert [value / cards for value in (made.value, made.low, made.high)] == pytest.approx(
            per_card, rel=1e-4)

    def test_every_wide_deployment_but_one_was_predicted(self):
        without = [name for name in EVERY if name.startswith("wide-")
                   and catalogue.load_measurements(name).blind is None]
        assert without == ["wide-vllm-prefill-ep32"]


class TestOffload:
    """Experts on the host."""

    @pytest.mark.parametrize(("name", "host", "hosts"), [
        ("s3-hybrid-910b4", "kunpeng-920-7263z", 2), ("kt-4090-v021", "intel-xeon-6454s", 2),
        ("kt-4090d-v02-one-socket", "intel-xeon-6454s", 1)])
    def test_the_scenario_has_its_host(self, name, host, hosts):
        scenario = catalogue.load_scenario(name)
        assert (scenario.host.id, scenario.host.type) == (host, "host")
        assert scenario.file.offload.hosts.value == hosts
        assert scenario.file.offload.routed_experts.value == 1

    def test_a_second_processor_speeds_decode_up_by_less_than_two(self):
        both, = table("kt-4090d-v02")
        one, = table("kt-4090d-v02-one-socket")
        assert one["tpot"] / both["tpot"] == pytest.approx(1.4, abs=0.01)

    @pytest.mark.parametrize(("change", "sentence"), [
        ({"offload": {"routed_experts": 1.5}}, "at most 1"),
        ({"offload": {"routed_experts": -0.1}}, "more than 0"),
        ({"offload": {"hosts": 3}}, "3 processors, but the cluster has 2"),
        ({"offload": {"host": "ascend-910b2"}}, "is an accelerator, expected a host processor"),
        ({"cluster": {"node": "hgx-h800"}}, "neither the offload nor the node 'hgx-h800' names"),
        ({"workload": {"requests": "2 request"}}, "'requests' is less than concurrency"),
    ])
    def test_what_cannot_be_is_refused_in_one_sentence(self, tmp_path, change, sentence):
        path = catalogue.ROOT / "scenarios" / "s3-hybrid-910b4.yml"
        data = plain(path.read_text(encoding="utf-8"))
        for group, keys in change.items():
            for key, new in keys.items():
                data[group][key] = new
        with pytest.raises(ParamsError) as error:
            catalogue.load_scenario(_written(tmp_path, data))
        assert sentence in str(error.value)
        assert "\n" not in str(error.value)

    def test_a_host_may_be_named_where_the_node_has_none(self, tmp_path):
        path = catalogue.ROOT / "scenarios" / "s3-hybrid-910b4.yml"
        data = plain(path.read_text(encoding="utf-8"))
        data["cluster"]["node"] = "hgx-h800"
        data["cluster"]["devices"] = 2
        data["offload"]["host"] = "kunpeng-920"
        assert catalogue.load_scenario(_written(tmp_path, data)).host.id == "kunpeng-920"


def _written(folder, data):
    path = folder / "mine.yml"
    path.write_text(yaml.safe_dump(data, allow_unicode=True), encoding="utf-8")
    return path


def both():
    """A text in both languages, a new one each time: YAML would write an alias."""
    return {"en": "text", "zh": "text"}


class TestMarks:
    """Rows that are suspect, predictions of others, empty cells."""

    def load(self, folder, **more):
        return catalogue.load_measurements(_written(folder, {
            "name": both(), "source": "own tests", "kind": "measured",
            "columns": {"concurrency": "request", "tpot": "ms"},
            "rows": [[1, 20], [2, None], [2, 40]]} | more))

    def test_an_empty_cell_is_not_a_number(self, tmp_path):
        found = self.load(tmp_path).column("tpot")
        assert found[::2] == [0.02, 0.04]
        assert math.isnan(found[1])

    def test_rows_by_number_and_by_value(self, tmp_path):
        entry = self.load(tmp_path, suspect=[
            {"rows": {"concurrency": [2], "tpot": [40]}, "reason": both()},
            {"rows": [1], "reason": both()}])
        assert list(entry.suspect_rows) == [1, 3]

    @pytest.mark.parametrize(("rows", "sentence"), [
        ([4], "there is no row 4, the table has 3"),
        ({"ttft": [1]}, "there is no column 'ttft'"),
        ({"concurrency": [2, 8]}, "no row that it names has concurrency 8"),
        ({"concurrency": [1], "tpot": [40]}, "no row that it names has concurrency 1"),
    ])
    def test_a_suspect_row_exists(self, tmp_path, rows, sentence):
        with pytest.raises(ParamsError, match=sentence):
            self.load(tmp_path, suspect=[{"rows": rows, "reason": both()}])

    @pytest.mark.parametrize(("made", "sentence"), [
        ({"metric": "ttft"}, "there is no column 'ttft'"),
        ({"row": 9}, "there is no row 9"),
        ({"row": 2}, "row 2 has no tpot"),
        ({"low": 23}, "expected 0 < low <= value <= high"),
        ({"low": 0}, "expected 0 < low <= value <= high"),
        ({"row": 3}, "row 3 is predicted twice"),
    ])
    def test_a_blind_prediction_is_of_a_measured_cell(self, tmp_path, made, sentence):
        whole = {"metric": "tpot", "row": 1, "value": 22, "low": 20, "high": 30}
        kept = {"made_at": both(), "predictions": [whole, whole | {"row": 3}]}
        assert self.load(tmp_path, blind=kept).blind.predictions[1].row == 3
        with pytest.raises(ParamsError, match=sentence):
            self.load(tmp_path, blind=kept | {
                "predictions": [whole | made, whole | {"row": 3}]})

    @pytest.mark.parametrize(("peer", "sentence"), [
        ({"metric": "ttft"}, "there is no column 'ttft'"),
        ({"row": 9}, "there is no row 9"),
        ({"value": {"value": "1 token/s", "source": "own tests", "kind": "derived"}},
         "has the wrong unit, 'tpot' is in ms"),
    ])
    def test_a_prediction_is_of_a_cell(self, tmp_path, peer, sentence):
        whole = {"tool": "t", "metric": "tpot", "row": 1,
                 "value": {"value": "22 ms", "source": "own tests", "kind": "derived"}}
        assert self.load(tmp_path, peer_predictions=[whole]).peer_predictions[0].row == 1
        with pytest.raises(ParamsError, match=sentence):
            self.load(tmp_path, peer_predictions=[whole | peer])

    @pytest.mark.parametrize(("marked", "sentence"), [
        ({"unequal": [9]}, "there is no row 9"),
        ({"even": [2], "unequal": [1]}, "row 2 is not among 'unequal'"),
        ({"medians": ["ttft"]}, "there is no column 'ttft'"),
    ])
    def test_how_a_client_draws_and_prints_is_of_rows_and_columns(self, tmp_path, marked, sentence):
        kept = {"unequal": [1, 2], "even": [2], "medians": ["tpot"]}
        assert self.load(tmp_path, **kept).even == [2]
        with pytest.raises(ParamsError, match=sentence):
            self.load(tmp_path, **marked)
