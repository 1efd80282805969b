"""The explorer: a run as one self-contained page, to be looked at, stepped through and gone on from."""
