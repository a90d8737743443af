"""A FedAvg round against other simulators, each in an environment of its own: `make peers`."""
