"""What is said: messages between actors, events for the journal, faults, lifecycles."""
