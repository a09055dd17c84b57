"""What is made of results: charts, the report, rows and words of figures."""
