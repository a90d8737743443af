"""What the simulator leaves out, and what it would change: for pages and tables. docs/world.md has the same table."""

from typing import NamedTuple


class Omission(NamedTuple):
    """`short` names it below a table of radios, where it can change which one is best; empty otherwise."""

    what: str
    would_change: str
    short: str = ""


OMISSIONS = (
    Omission(
        "downlink multicast of a model (SC-PTM, LoRaWAN and Wi-Fi multicast), but for the scatter of HFedMS",
        "one model for n sensors is sent n times: on LoRaWAN most of a FedAvg round",
        "multicast",
    ),
    Omission(
        "transport above the radio: headers; CoAP's blocks and LwM2M stop and wait for a round trip each",
        "on NB-IoT more than all airtime",
        "transport headers",
    ),
    Omission(
        "interference between cells, and neighbours on the same unlicensed channel",
        "more cells always help here",
        "interference between cells",
    ),
    Omission(
        "attach, registration, search for networks, roaming, handover, movement",
        "minutes at the start, and after each outage of a cell",
    ),
    Omission(
        "link adaptation within a coverage class",
        "a class has one rate, that of its greatest loss; NB-IoT's first class its best one, which is optimistic "
        "beyond about 130 dB",
    ),
    Omission(
        "power control; how long a transmitter is on within repetitions",
        "sensors near the base station spend less than here, those in deep coverage more",
    ),
    Omission(
        "C-DRX in detail: short and long cycles, full reception before them, RRC inactive",
        "one mean current stands for all",
    ),
    Omission(
        "what is on the board beside radio and processor, self-discharge, temperature",
        "batteries last less long than here",
    ),
)
