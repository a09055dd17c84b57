"""What people write and read, whatever it is about: files, TOML, names that are nearly right,
errors, and numbers in words.
"""
