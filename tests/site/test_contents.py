"""Numbers on the built pages, against the catalogue and the runtime."""

import html
import re

import pytest

import calc
import catalogue
from notebooks.pages.catalogue.tables import hardware, mechanisms
from notebooks.show.display import written
from notebooks.show.numbers import fmt_bytes, fmt_time
from tools.site.assets import tree

FOLDERS = ("", "zh/")
TPOT = {"": "time per output token (TPOT)", "zh/": "每输出 token 时间（TPOT）"}


def text_of(path):
    """The text of a page without its tags and commas."""
    return html.unescape(re.sub(r"<[^>]+>", "", path.read_text("utf-8"))).replace(",", "")


def rows(site, page):
    """Cells of the table rows of a page by the first; of equal ones the first row."""
    found = {}
    for row in tree(site / page).xpath("//article//tr"):
        first, *others = [" ".join(cell.text_content().split()) for cell in row]
        found.setdefault(first, others)
    return found


@pytest.mark.parametrize("folder", FOLDERS)
@pytest.mark.parametrize("name", ["nvidia-h20", "ascend-910b2", "amd-mi300x", "kunpeng-920"])
def test_device_page_has_every_value_and_a_link_to_its_source(site, name, folder):
    page, device = site / folder / f"chapters/devices/{name}.html", catalogue.load_device(name)
    shown, links = text_of(page), set(tree(page).xpath("//a/@href"))
    for label, value in hardware.values_of(device):
        assert value.written.replace(",", "") in shown, label
        assert catalogue.sources()[value.source].get("url") in {None, *links}, label
    for item in hardware.disagreements(device):
        assert item.other.written.replace(",", "") in shown, item.label
    if priors := mechanisms.of_device(device):
        for label, value in mechanisms.rows(priors):
            assert written(value).replace(",", "") in shown, label


@pytest.mark.parametrize(("folder", "label"), TPOT.items())
@pytest.mark.parametrize("name", ["s2-910b1-awq", "s0-scenario-1"])
def test_deployment_page_has_the_estimate_of_the_runtime(site, name, folder, label):
    """Also where answers have no length, and what a deployment that fits has to spare."""
    answer = calc.estimate(catalogue.load_scenario(name))
    page = f"{folder}chapters/scenarios/{name}.html"
    seen = answer.seen
    pace = seen.tpot if seen else answer.quantities["tpot"]
    assert rows(site, page)[label][0] == fmt_time(float(pace.value))
    assert not answer.fits or fmt_bytes(answer.spare) in text_of(site / page)
