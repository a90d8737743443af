"""How a benchmark says whether it met its bar."""


def at_most(what: str, measured: float, bar: float) -> bool:
    return _verdict(f"{what}: {measured:.4g} (bar: at most {bar:g})", measured <= bar)


def at_least(what: str, measured: float, bar: float) -> bool:
    return _verdict(f"{what}: {measured:.4g} (bar: at least {bar:g})", measured >= bar)


def _verdict(line: str, met: bool) -> bool:
    print(f"    {line} {'met' if met else 'MISSED'}")
    return met
