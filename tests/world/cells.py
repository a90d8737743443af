"""A cell for tests, and transfers over it."""

from typing import Any

from simpy import Environment

from hfedms_sim.rounds import SERVER, Direction, Hop, Payload
from hfedms_sim.scenario import Cell as CellSettings
from hfedms_sim.scenario import Scenario
from hfedms_sim.seeds import Draws
from hfedms_sim.trace import Trace
from hfedms_sim.transfers import Transfer
from hfedms_sim.world.cell import Cell, Surroundings
from hfedms_sim.world.energy.ledger import Ledger
from hfedms_sim.world.invariants import Invariants
from hfedms_sim.world.radio.loss_draws import LossDraws
from hfedms_sim.world.site.attachment import Placed, RoundRobin, make_attachment
from hfedms_sim.world.transfer_log import TransferLog

SENSORS, SEED = 20, 1
KILOBYTE = Payload("model", 1_000)  # takes a second up, half a second down


def make_cell(
    env: Environment,
    trace: Trace | None = None,
    ledger: Ledger | None = None,
    log: TransferLog | None = None,
    **changes: Any,
) -> Cell:
    profile = {"name": "test", "uplink_bps": 8e3, "downlink_bps": 16e3} | changes
    settings = CellSettings.model_validate({"name": "hall", "profile": profile})
    draws = Draws(SEED)
    watching = Invariants(SEED)
    log = log or TransferLog(trace or Trace(), SENSORS, watching)
    return Cell(
        env,
        0,
        settings,
        Surroundings(
            draws, LossDraws(draws, SENSORS), RoundRobin(SENSORS, 1), log, ledger or Ledger(SENSORS), watching
        ),
    )


def transfer(direction: Direction, sensor: int, payload: Payload = KILOBYTE, round_number: int = 1) -> Transfer:
    ends = (sensor, SERVER) if direction == "up" else (SERVER, sensor)
    return Transfer(round_number, round_number - 1, 0, Hop(0, *ends), direction, payload, sensor, (sensor,))


def placed_sensors(scenario: Scenario) -> Placed:
    """The attachment of a run whose sensors stand somewhere."""
    attachment = make_attachment(scenario, Draws(scenario.seed))
    assert isinstance(attachment, Placed)
    return attachment
