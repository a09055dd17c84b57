"""Orders by size: SRPT and its kin, virtual time, HFSP."""
