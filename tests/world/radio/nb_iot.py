"""NB-IoT rates when everything is repeated R times, from the timeline of one transport block (milliseconds):

    down  control R, gap 4, data 4 R, gap 12, acknowledgement 2 R, gap 3     680 bits
    up    control R, gap 8, data 4 R, gap 3                                  1000 bits, 12 tones

R = 1 gives the published sustained 26 and 62 kbit/s of Cat-NB1. Which R a coupling loss needs is an assumption.
"""

_BITS_PER_S = 1000.0  # bits a millisecond


def nb_iot_downlink_bps(repetitions: int) -> float:
    return 680 / (repetitions + 4 + 4 * repetitions + 12 + 2 * repetitions + 3) * _BITS_PER_S


def nb_iot_uplink_bps(repetitions: int) -> float:
    return 1000 / (repetitions + 8 + 4 * repetitions + 3) * _BITS_PER_S
