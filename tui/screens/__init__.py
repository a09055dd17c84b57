"""What fills the whole screen, or comes up over it."""
