"""The conformance protocol, the process runner, verdicts, and importers of other logs."""
