"""Cells of machines that schedulers share: Omega, monolithic, Mesos (Schwarzkopf et al., EuroSys
2013).
"""
