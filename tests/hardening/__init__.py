"""What a stranger, or an accident, may do: nothing is overwritten, nothing is injected, and no traceback is shown."""
