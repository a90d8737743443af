"""The world side: bytes, joules and simulated seconds, on SimPy. It knows nothing of tensors."""
