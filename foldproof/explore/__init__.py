"""Exhaustive search of a machine, traces, shortest counterexamples, the necessity matrix."""
