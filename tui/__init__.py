"""What a person sees in the terminal."""
