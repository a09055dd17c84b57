"""A report as a file."""

from pathlib import Path

from callboard.experiments.pages.charts.chart_style import check_matplotlib
from callboard.experiments.pages.report.page import check_jinja, write_page
from callboard.experiments.pages.report.report_source import ReportSource
from callboard.experiments.pages.report.study_report import study_report
from callboard.histories.quantiles import require_scipy


def check_report() -> None:
    """MissingExtraError if no report can be made here; to be asked before long work."""
    check_jinja()
    check_matplotlib()
    require_scipy()


def write_report(source: ReportSource, path: Path) -> None:
    """Write the page, whole or not at all.  OSError as files do, MissingExtraError."""
    check_report()
    write_page(study_report(source), path)
