"""Experiments that no paper has: sensors out of reach, and hfedms-plus part by part and against its rivals."""
