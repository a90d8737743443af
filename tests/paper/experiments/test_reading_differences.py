"""Text and program: rounds are those to one target for all, and the table says how many seeds got there."""

from hfedms_sim.campaign import Trial
from hfedms_sim.exhibits import Table, Value
from hfedms_sim.paper.experiments.reading_differences import READING_DIFFERENCES
from tests.paper.made_up import End, diverging, results, study


def table_of(fedavg: float, *diverged: tuple[str, int]) -> Table:
    """Return the table where FedAvg ends like this by the text, everybody at 0.65 with batches of 49, else at 0.8."""

    def end(trial: Trial) -> End:
        facts = dict(trial.variant)
        if facts["strategy"] == "fedavg" and len(facts) == 3:
            return fedavg, 1.0
        return 0.65 if facts.get("stream") == "{batch: 49}" and len(facts) == 4 else 0.8, 1.0

    here = study()
    found = diverging(results(READING_DIFFERENCES, here, end), diverged)
    return READING_DIFFERENCES.outcome(here, found).tables[0]


def there(table: Table, name: str) -> dict[Value, tuple[Value, ...]]:
    """Return rounds to the target, and how many seeds got there, by strategy."""
    assert table.header[-2:] == ("rounds to the target", "seeds there")
    return {row[0]: row[-2:] for row in table.rows if row[1] == name}


def test_the_target_is_070_if_the_texts_fedavg_gets_there_with_every_seed() -> None:
    table = table_of(0.71)
    assert "Target accuracy 0.700; seeds there" in table.note
    assert there(table, "text") == {"fedavg": (40, 3), "hfedms-s": (10, 3), "hfedms-d": (10, 3)}
    assert there(table, "batches of 49") == dict.fromkeys(("fedavg", "hfedms-s", "hfedms-d"), (None, 0))


def test_the_target_is_where_the_texts_fedavg_ends_if_it_does_not() -> None:
    table = table_of(0.64)
    assert "Target accuracy 0.640;" in table.note
    assert there(table, "batches of 49") == {"fedavg": (40, 3), "hfedms-s": (10, 3), "hfedms-d": (10, 3)}
    assert there(table, "all of them (program)")["fedavg"] == (35, 3)


def test_a_run_that_diverged_did_not_get_there() -> None:
    assert there(table_of(0.71, ("hfedms-d", 2)), "text")["hfedms-d"] == (10, 2)
