"""What a shell offers while somebody types: names of scenarios, profiles and strategies, and files.

A shell asks at every Tab, so nothing that takes time is imported: shipped files are listed by their names, and the
names of strategies stand here (a test compares them with those that there are).
"""

from collections.abc import Callable

import click
from click.shell_completion import CompletionItem

from hfedms_sim.system.files import shipped_files

STRATEGY_NAMES = (
    "fedavg", "fedprox", "fedmmd", "fedfusion", "ida", "fedadagrad", "fedadam", "fedyogi", "fedcs", "fedasync",
    "fedbuff", "hierfavg", "static-groups", "static-icg", "hfedms-s", "hfedms-d", "hfedms-async",
    "hfedms-plus",
)  # fmt: skip

Completion = Callable[[click.Context, click.Parameter, str], list[CompletionItem]]


def scenarios(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer shipped scenarios, and files."""
    return _names_or_files(list(shipped_files("scenarios")), incomplete)


def profiles(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer shipped network profiles, and files."""
    return _names_or_files(list(shipped_files("network_profiles")), incomplete)


def strategies(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer shipped strategies."""
    return [CompletionItem(name) for name in STRATEGY_NAMES if name.startswith(incomplete)]


def anything(_: click.Context, __: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Offer whatever ships under a name, and files."""
    names = [*shipped_files("scenarios"), *shipped_files("network_profiles"), *STRATEGY_NAMES]
    return _names_or_files(names, incomplete)


def listed(each: Completion) -> Completion:
    """Offer for the last name of A,B,... what is offered for one."""

    def complete(context: click.Context, parameter: click.Parameter, incomplete: str) -> list[CompletionItem]:
        before, comma, last = incomplete.rpartition(",")
        found = each(context, parameter, last)
        return [CompletionItem(f"{before}{comma}{item.value}") for item in found if item.type == "plain"]

    return complete


def _names_or_files(names: list[str], incomplete: str) -> list[CompletionItem]:
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]
