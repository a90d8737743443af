"""Who learns from whom: every lineage is trained by one trial, and nobody waits for who waits for them."""

from hypothesis import given
from hypothesis import strategies as st

from hfedms_sim.campaign.training_tree import Branch, training_tree


def test_one_path_is_trained_by_the_longest() -> None:
    kin = training_tree({"a": ["1", "2"], "b": ["1", "2", "3"], "c": ["1", "2", "3"]})
    assert kin == {
        "a": Branch("b", "2", (), branches_off=False, shared_rounds=2),
        "b": Branch(None, None, ("2", "3"), branches_off=True),
        "c": Branch("b", "3", (), branches_off=False, shared_rounds=3),
    }


def test_a_fork_is_pinned_by_the_trial_that_trains_it() -> None:
    kin = training_tree({"a": ["1", "2", "3"], "b": ["1", "2", "x"], "c": ["1", "2", "y"], "d": ["q", "r", "s"]})
    assert kin["a"].pins == ("2",)
    assert [kin[name].parent for name in "abcd"] == [None, "a", "a", None]
    assert [kin[name].fork for name in "abcd"] == [None, "2", "2", None]


def test_what_is_written_is_read_again() -> None:
    kin = Branch("a", "2", ("3", "4"), branches_off=True, shared_rounds=7)
    assert Branch.from_json(kin.as_json()) == kin


@given(
    st.dictionaries(st.text(min_size=1, max_size=3), st.lists(st.integers(0, 1), min_size=1, max_size=6), max_size=9)
)
def test_every_lineage_is_trained_once_and_found_where_it_is_said_to_be(turns: dict[str, list[int]]) -> None:
    """A path's lineage is its history, as in a hash chain."""
    paths = {
        name: ["".join(map(str, taken[: number + 1])) for number in range(len(taken))] for name, taken in turns.items()
    }
    kin = training_tree(paths)
    trained = {
        name: paths[name][paths[name].index(each.fork) + 1 :] if each.fork else paths[name]
        for name, each in kin.items()
    }
    everything = [lineage for own in trained.values() for lineage in own]
    assert sorted(everything) == sorted({lineage for path in paths.values() for lineage in path})
    for name, each in kin.items():
        assert each.branches_off == bool(trained[name])
        assert each.shared_rounds == len(paths[name]) - len(trained[name])
        if each.parent is not None:
            assert each.fork in trained[each.parent]
            assert each.fork in kin[each.parent].pins
            ancestors = [name]
            while (parent := kin[ancestors[-1]].parent) is not None:
                assert parent not in ancestors
                ancestors.append(parent)
