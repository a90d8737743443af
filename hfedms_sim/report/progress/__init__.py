"""What is told of a command while it works."""
