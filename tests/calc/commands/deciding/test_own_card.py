"""The cost of a deployment on a card that is not in the catalogue."""

import shutil

import pytest
from _options import finite

import catalogue


class TestOwnCard:
    """A card that is not in the catalogue is priced by its own file, an option, or not at all."""

    PRICE = ("price:\n  usd_rent: {value: 2.5 USD/h, source: Our offer, kind: assumed, "
             "range: [2 USD/h, 3 USD/h]}\n")

    @pytest.fixture
    def plan(self, tmp_path):
        for name in ("example-card.yml", "example-deployment.yml"):
            shutil.copy(catalogue.ROOT / "templates" / name, tmp_path)
        return tmp_path / "example-deployment.yml"

    def cost(self, cli, plan, *options):
        code, out, err = cli("cost", str(plan), "--json", *options)
        assert code == 0, err
        return finite(out)

    def test_its_file_s_rent_is_taken(self, cli, plan):
        card = plan.with_name("example-card.yml")
        card.write_text(card.read_text(encoding="utf-8") + self.PRICE, encoding="utf-8")
        answer = self.cost(cli, plan)
        assert answer["hour"]["value"] * 3600 == pytest.approx(2.5)
        assert "per_million_output" in answer["amounts"]

    def test_an_option_is_taken(self, cli, plan):
        assert self.cost(cli, plan, "--price=2 USD/h")["hour"]["value"] * 3600 == pytest.approx(2)

    def test_without_a_price_it_says_so(self, cli, plan):
        answer = self.cost(cli, plan)
        assert answer["hour"] is None
        assert "per_million_output" not in answer["amounts"]
