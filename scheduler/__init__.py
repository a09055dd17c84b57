"""The thinking: what to run next, where, at whose expense.  Pure: no I/O, no clock, no actor."""
