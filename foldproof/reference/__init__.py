"""The event-sourced session, the recallable compactor and the recall tools."""
