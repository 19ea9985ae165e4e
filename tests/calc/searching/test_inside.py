"""Of what meets a goal, the best that lies inside of what was measured."""

from calc.launching import starting
from calc.searching.same_cards import inside


class TestInside:
    """The best of what was measured near, beside a best that lies outside of it."""

    def test_it_lies_inside_on_every_axis_and_keeps_the_limits_simulated(self):
        answer = starting.search("r1-64-users-8xh20")
        found = inside(answer)
        assert answer.near(answer.best).outside
        assert found is not None
        assert not answer.near(found).outside
        assert answer.offers(found)
        told = answer.simulated(found)
        assert told is None or told.keeps
        # nothing inside was passed over that the first search had found, and is surely better
        known = [row for kept in answer.result.of_bases for row in answer.result.rows(kept.front)
                 if not answer.near(row).outside]
        wanted = answer.result.wishes.chosen
        assert known
        assert all(found.worth(wanted)[0] >= 0.8 * row.worth(wanted)[0] for row in known)

    def test_a_best_that_lies_inside_is_the_answer(self):
        answer = starting.search("r1-64-users-8xh20", ["precisions=fp8-block", "space.drafts=0"])
        assert not answer.near(answer.best).outside
        assert inside(answer) == answer.best

    def test_where_nothing_was_measured_there_is_none(self):
        answer = starting.search("r1-64-users-8xh20", ["precisions=w4afp8"])
        assert answer.near(answer.best).outside
        assert inside(answer) is None
