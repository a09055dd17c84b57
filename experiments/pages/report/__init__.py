"""Reports to mail: a document of sections, tables and figures, and the one page it becomes."""
