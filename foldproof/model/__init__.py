"""The specification: one session as a state machine. Pure, immutable, standard library only."""
