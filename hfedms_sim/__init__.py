"""hfedms_sim: a discrete-event network co-simulator for federated learning over low-power radio."""
