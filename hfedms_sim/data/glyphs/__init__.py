"""Handwritten characters of many writers, drawn on demand."""
