"""What the words of a page mean, for readers who have nothing but the page."""

from hfedms_sim.exhibits import Table
from hfedms_sim.report.page.blocks import Section, SortableTable

_WORDS = (
    ("cell, profile", "what one base station serves; a radio technology as figures"),
    ("round", "what lies between two models of the server: it sends its model, sensors train it, it takes the mean"),
    (
        "full, calibration round",
        "a round in which the whole model is sent; one in which only the classifier is, its last layer",
    ),
    ("chain, group, hop", "sensors that train one after the other and hand the model on; one step of it"),
    (
        "report, scatter",
        "the class counts that sensors send before they are grouped; the new model, sent to who took part",
    ),
    ("critical path", "the steps of a round that ended last, one after the other: without them it would be shorter"),
    (
        "cell direction",
        "cause: uplink or downlink of a cell is full, so that transfers share it or wait for each other",
    ),
    ("chain length", "cause: sensors of a chain follow each other, and nobody is in the way"),
    ("sensor rate", "cause: what one sensor can send or receive, alone on the air"),
    ("duty cycle", "cause: silences that a rule or a quota demands after sending"),
    ("set-up and paging", "cause: connections are set up, sleeping sensors are woken"),
    ("coverage class", "how often a radio repeats itself to be heard; a higher class is slower"),
    ("coupling loss", "how much weaker a signal arrives than it was sent"),
    ("lineage", "a name for all that led to a model: equal lineages are the same model"),
)


def words() -> Section:
    """Return the glossary."""
    table = Table("words", "As they are used on this page", ("word", "what it means"), _WORDS)
    return Section("words", "Words", (SortableTable(table),))
