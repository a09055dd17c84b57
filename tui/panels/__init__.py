"""The panes of the screen, one a file.  Each draws what a frame says and decides nothing."""
