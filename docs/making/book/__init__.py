"""The pages of the book that are written from the code, and the man page: `make reference`."""
