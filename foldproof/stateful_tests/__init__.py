"""Hypothesis state machines, shipped so that users can run them against their own code."""
