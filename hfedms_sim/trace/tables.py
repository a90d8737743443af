"""The tables of a run, column by column. Other programs read them: names, order and types are a contract."""

from typing import NamedTuple, TypeAlias

Row: TypeAlias = tuple[object, ...]


class Column(NamedTuple):
    name: str
    type: str  # int64 | float64 | string | bool
    meaning: str


class Table(NamedTuple):
    name: str
    columns: tuple[Column, ...]


def _table(name: str, columns: str) -> Table:
    """Each line: name, type, meaning."""
    parsed = (line.split(maxsplit=2) for line in columns.strip().splitlines())
    return Table(name, tuple(Column(*parts) for parts in parsed))


ROUNDS = _table(
    "rounds",
    """
    round                int64    from 1
    cycle                int64    from 1; a cycle starts with a full synchronisation
    phase                string   full or calibration
    start_s              float64  simulated seconds
    end_s                float64  when the last transfer and the last work ended
    groups               int64    chains that ran in parallel
    total_groups         int64    groups that were formed, from which these chains were drawn
    participants         int64    sensors in these chains
    skipped              int64    participants that trained nothing
    group_distance       float64  sum of squared distances between the groups' class counts
    uplink_bytes         int64    payload, reports included
    downlink_bytes       int64    payload
    retransmitted_bytes  int64    beside the payload
    energy_j             float64  transfers, work and baseline; the sum of the states below
    baseline_energy_j    float64  of the radios beside transfers: connected, set-up, idle and sleep
    transmit_j           float64  transmitter on
    receive_j            float64  receiving airtime
    connected_j          float64  connected without airtime
    setup_j              float64  setting up connections
    idle_j               float64  released, listening or hearing a page now and then
    sleep_j              float64  released, asleep
    compute_j            float64  of the processors
    updated_parameters   int64    trained in this round, summed over sensors
    accuracy             float64  on all test data
    loss                 float64  on all test data
    accuracy_p10         float64  10th percentile over sensors
    accuracy_p50         float64  median over sensors
    accuracy_p90         float64  90th percentile over sensors
    probe_accuracy       float64  on the batches of the probe round
    lineage              string   hash of everything learnt so far
""",
)

TRANSFERS = _table(
    "transfers",
    """
    transfer             int64    from 0, in the order they ended
    round                int64    as in rounds
    group                int64    index of the chain; -1 for reports and scatter
    hop                  int64    place in the chain, 0 leaves the server; -1 for reports and scatter
    direction            string   up or down
    payload              string   model, classifier, report or scatter
    source               int64    sensor; -1 is the server
    target               int64    sensor; -1 is the server, -2 everybody in the cell
    sensor               int64    the one on the radio; -2 everybody in the cell
    cell                 string   name of the base station
    bytes                int64    payload
    ready_s              float64  when the sender had it
    start_s              float64  when its airtime began
    end_s                float64  when the receiver had it
    airtime_s            float64  airtime it needs when alone
    retransmitted_bytes  int64    beside the payload
    energy_j             float64  of the sensor's radio
    outcome              string   ok, lost or aborted
""",
)

WORK = _table(
    "work",
    """
    round                int64    as in rounds
    group                int64    index of the chain
    hop                  int64    the sensor's place in the chain, from 0
    sensor               int64    who computes
    kind                 string   train, extract or calibrate
    samples              int64    how many it works on
    start_s              float64  simulated seconds
    end_s                float64  simulated seconds
    energy_j             float64  of the sensor's processor
""",
)

CAPTURES = _table(
    "captures",
    """
    round                int64    as in rounds
    sensor               int64    who captures
    time_s               float64  when
    first_arrival        int64    index of the first sample taken, on the sensor's own arrival path
    arrived              int64    samples since the last capture; of a saturated or static stream those it takes
    overflowed           int64    of these, lost because the buffer was full
    captured             int64    samples taken
""",
)

FAULTS = _table(
    "faults",
    """
    time_s               float64  when
    kind                 string   what broke
    entity               string   where
    round                int64    as in rounds
    detail               string   more
""",
)

SENSORS = _table(
    "sensors",
    """
    sensor               int64    from 0
    cell                 string   name of the base station it uses, or hears best
    x_m                  float64  where it stands, along the width
    y_m                  float64  the same, along the length
    line_of_sight        bool     whether nothing stands between it and the base station
    coupling_loss_db     float64  path loss, shadowing and extra loss
    snr_up_db            float64  signal-to-noise ratio at the base station
    snr_down_db          float64  the same at the sensor
    uplink_bps           float64  its rate alone in the cell
    downlink_bps         float64  the same, base station to sensor
    coverage_class       int64    its place in the profile's repetitions, from 0
    covered              bool     whether it can take part
    compute              string   its processor
    transfers            int64    transfers of its radio, broadcasts it heard included
    bytes_up             int64    payloads of it that arrived
    bytes_down           int64    payloads that arrived at it
    airtime_s            float64  airtime that its radio sent or received
    transmit_j           float64  sending
    receive_j            float64  receiving
    connected_j          float64  connected without airtime
    setup_j              float64  setting up connections
    idle_j               float64  released, and listening for pages
    sleep_j              float64  asleep
    compute_j            float64  its processor
""",
)

ADDED_COLUMNS: dict[str, tuple[str, ...]] = {
    "rounds": (
        "total_groups", "transmit_j", "receive_j", "connected_j", "setup_j", "idle_j", "sleep_j", "compute_j",
    )
}  # fmt: skip
"""Those that directories of earlier versions may lack: whoever reads such a directory gets nulls."""

ADDED_TABLES = ("sensors",)
"""Those that such directories may lack as a whole: whoever reads one gets no rows."""

TABLES: dict[str, Table] = {table.name: table for table in (ROUNDS, TRANSFERS, WORK, CAPTURES, FAULTS, SENSORS)}
