"""Which samples a sensor has captured when: arrival laws, shifts, buffers."""
