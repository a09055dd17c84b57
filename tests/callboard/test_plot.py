"""`callboard plot`: files come out whole and are named, or a message says why not."""

import struct
import sys
from pathlib import Path

import pytest

from callboard.actors.vocabulary.events import RunEnded
from callboard.cli import run_command_line
from callboard.commands import plot_command
from callboard.experiments.pages.charts import chart_catalogue
from callboard.experiments.pages.charts.chart_catalogue import RUN_CHARTS
from callboard.experiments.pages.charts.chart_style import retitle
from callboard.experiments.pages.charts.job_charts import ecdf_chart
from callboard.experiments.pages.charts.measures import MEASURES, measure_named
from callboard.experiments.user_errors import InputError
from callboard.journal.writer import JournalWriter
from tests.callboard.conftest import Run
from tests.experiments.charts.support import record, story_run, under
from tests.journal.stories import START, STORY

pytestmark = pytest.mark.usefixtures("in_this_process")


@pytest.fixture
def journal(tmp_path: Path) -> Path:
    """A run that can be played again, for times alone."""
    path = tmp_path / "two.journal"
    run_command_line(["run", "two-jobs", "--policy", "fair", "--journal", str(path)])
    return path


def test_one_figure_goes_into_the_file_that_is_named(
    callboard: Run, journal: Path, tmp_path: Path
) -> None:
    for ending, magic in ((".svg", b"<?xml"), (".png", b"\x89PNG"), (".pdf", b"%PDF")):
        to = tmp_path / f"a{ending}"
        assert callboard("plot", str(journal), "ecdf", "--to", str(to))[0] == 0
        assert to.read_bytes().startswith(magic)


@pytest.mark.soak
def test_points_of_a_question_are_in_the_tornado_alone(callboard: Run, tmp_path: Path) -> None:
    """The figure of 30 runs had a row `noise of task lengths σ = 0.1554653…` for each, in no order
    and without the second key.
    """
    store, to = str(tmp_path / "s.sqlite"), str(tmp_path / "a.svg")
    sweep = ("sweep", "two-jobs", "--policy", "fair", "--cores", "1", "--store", store)
    asked = ("--sobol", "cluster.nodes=4..5", "--samples", "4")
    assert callboard(*sweep, *asked)[0] == 0
    status, _, err = callboard("plot", store, "intervals", "--to", to)
    assert status == 2
    assert "all runs are at points of --sobol or --morris; tornado draws those" in err
    assert callboard(*sweep, "--vary", "tasks.sigma=0.1,0.2")[0] == 0
    status, _, err = callboard("plot", store, "intervals", "--to", to)
    assert status == 0
    assert "2 runs at points of --sobol or --morris are in the tornado alone" in err


@pytest.mark.soak
def test_a_setting_that_was_varied_and_is_a_point_too_is_in_table_and_figure(
    callboard: Run, tmp_path: Path
) -> None:
    """Of 4, 5 and 6 nodes there was a row of 6 alone."""
    store, to = str(tmp_path / "s.sqlite"), str(tmp_path / "a.svg")
    sweep = ("sweep", "two-jobs", "--policy", "fair", "--cores", "1", "--store", store)
    callboard(*sweep, "--sobol", "cluster.nodes=4..5", "--samples", "4")
    callboard(*sweep, "--vary", "cluster.nodes=4,5,6")
    status, _, err = callboard("plot", store, "intervals", "--to", to)
    assert (status, "in the tornado alone" in err) == (0, False)
    _, out, _ = callboard("sweep", "--show", "--store", store)
    rows = [line.split()[0] for line in out.splitlines() if line.split()[1:2] == ["fair"]]
    assert rows == ["4", "5", "6"]


def test_figures_and_journals_may_stand_after_options(
    callboard: Run, journal: Path, tmp_path: Path
) -> None:
    """As `callboard plot STORE --to FILE intervals`: argparse takes a list from one place alone."""
    figure = tmp_path / "figure.svg"
    for words in (
        ("plot", str(journal), "--to", str(figure), "ecdf"),
        ("plot", "ecdf", "--to", str(figure), str(journal), "--dpi", "80"),
    ):
        assert callboard(*words)[0] == 0
        figure.unlink()


@pytest.mark.soak
def test_several_have_their_names_put_in_or_are_put_into_a_folder(
    callboard: Run, journal: Path, tmp_path: Path
) -> None:
    status, out, _ = callboard("plot", str(journal), "--to", str(tmp_path / "a.svg"))
    assert status == 0
    for name in RUN_CHARTS:
        assert (tmp_path / f"a-{name}.svg").is_file()
        assert f"{name} written to {tmp_path / f'a-{name}.svg'}" in out
    (tmp_path / "figures").mkdir()
    to = f"{tmp_path / 'figures'}/"
    assert callboard("plot", str(journal), "jobs", "--to", to, "--format", "png")[0] == 0
    assert [path.name for path in (tmp_path / "figures").iterdir()] == ["jobs.png"]


def test_a_run_that_was_left_by_ctrl_c_is_said_not_to_be_complete(
    callboard: Run, tmp_path: Path
) -> None:
    """As one is that was killed: only of that one a line said so."""
    left = record(
        tmp_path / "left.journal", [*STORY[:-1], RunEnded(4400, "interrupted", 3, 4, "d")]
    )
    to = str(tmp_path / "a.svg")
    _, _, err = callboard("plot", str(left), "jobs", "--to", to)
    assert "fifo: the run is not complete, and is drawn as far as it goes" in err
    whole = record(tmp_path / "whole.journal", STORY)
    assert "not complete" not in callboard("plot", str(whole), "jobs", "--to", to)[2]


def test_what_cannot_be_drawn_is_said_and_the_rest_is_drawn(callboard: Run, tmp_path: Path) -> None:
    (tmp_path / "out").mkdir()
    empty = record(tmp_path / "empty.journal", STORY[:3])
    status, out, err = callboard("plot", str(empty), "--to", str(tmp_path / "out"))
    assert status == 0
    assert "fifo: the run is not complete, and is drawn as far as it goes" in err
    assert "ecdf: nothing to draw: no job has completed" in err
    assert out.count(" written to ") == len(list((tmp_path / "out").iterdir())) == 5
    status, out, err = callboard("plot", str(empty), "ecdf", "--to", str(tmp_path / "a.svg"))
    assert (status, out) == (2, "")
    assert "ecdf: nothing to draw: no job has completed" in err


def test_a_world_that_cannot_be_played_again_has_no_slowdowns(
    callboard: Run, tmp_path: Path
) -> None:
    """The story's scenario is no real one."""
    journal = record(tmp_path / "tiny.journal", STORY)
    status, _, err = callboard("plot", str(journal), "--to", str(tmp_path / "a.svg"))
    assert status == 0
    assert "slowdown: nothing to draw: " in err
    assert not (tmp_path / "a-slowdown.svg").exists()


def test_a_world_with_other_jobs_now_has_no_slowdowns(
    callboard: Run, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(chart_catalogue, "solo_times", lambda _spec, **_how: {0: 5})
    status, _, err = callboard("plot", str(journal), "slowdown", "--to", str(tmp_path / "a.svg"))
    assert status == 2
    assert "its scenario does not give the jobs that it has recorded" in err


def test_several_policies_in_one_picture(callboard: Run, tmp_path: Path) -> None:
    journals = [
        str(record(tmp_path / f"{policy}.journal", under(policy))) for policy in ("fifo", "fair")
    ]
    one, two = tmp_path / "one.svg", tmp_path / "two.svg"
    assert callboard("plot", journals[0], "ecdf", "--to", str(one))[0] == 0
    assert callboard("plot", *journals, "ecdf", "--to", str(two))[0] == 0
    assert len(two.read_bytes()) > len(one.read_bytes())


def test_bad_input_is_said_and_leaves_nothing(
    callboard: Run, journal: Path, tmp_path: Path
) -> None:
    text = tmp_path / "text.journal"
    text.write_text("no journal")
    damaged = tmp_path / "damaged.journal"
    bytes_ = bytearray(record(tmp_path / "whole.journal", STORY).read_bytes())
    bytes_[200] ^= 0xFF
    damaged.write_bytes(bytes_)
    nothing = tmp_path / "nothing.journal"
    JournalWriter(nothing).close()
    twice = record(tmp_path / "twice.journal", [START, *STORY[3:]])
    before = sorted(tmp_path.iterdir())
    svg, page = str(tmp_path / "a.svg"), str(tmp_path / "a.html")
    for words, to, said in (
        ((str(journal), "eggs"), svg, "eggs: no such file, and no figure is called so"),
        (
            (str(journal), "ecdf"),
            str(tmp_path / "a.gif"),
            "end the name in one of .svg, .png, .pdf",
        ),
        ((str(journal), "ecdf"), str(text / "a.svg"), "is a file, and no folder"),
        ((str(journal), "ecdf"), str(text / "no") + "/", "is a file, and no folder"),
        ((str(journal), "ecdf"), "", "the name is empty"),
        (("ecdf",), svg, "name a journal or a store too"),
        ((str(text), "ecdf"), svg, "not a Callboard journal"),
        ((str(damaged), "ecdf"), svg, "damaged"),
        ((str(nothing), "ecdf"), svg, "no run has been recorded in it yet"),
        ((str(twice), "ecdf"), svg, f"{twice}: "),
        ((str(journal), "ecdf", "--format", "png"), svg, "the name says .svg"),
        *(
            (
                (str(journal), "gantt", *given.split()),
                page,
                f"{given.split()[0]}: it is for pictures",
            )
            for given in ("--format png", "--size 10x4", "--dpi 300")
        ),
        ((*[str(journal)] * 13, "ecdf"), svg, "13 journals are too many for one figure"),
    ):
        status, _, err = callboard("plot", *words, "--to", to)
        assert status == 2, said
        assert said in err
    assert sorted(tmp_path.iterdir()) == before


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sweep of two policies and two seeds, with times alone."""
    path = tmp_path_factory.mktemp("store") / "s.sqlite"
    words = ["sweep", "two-jobs", "--seeds", "2", "--slowdown", "--cores", "1"]
    policies = ["--policy", "fifo", "--policy", "fair"]
    assert run_command_line([*words, *policies, "--store", str(path)]) == 0
    return path


@pytest.mark.soak
def test_a_store_has_figures_of_its_own(callboard: Run, store: Path, tmp_path: Path) -> None:
    status, _, err = callboard("plot", str(store), "--to", str(tmp_path / "a.svg"))
    assert status == 0
    names = ("intervals", "differences", "ecdf", "slowdown")
    assert sorted(path.name for path in tmp_path.iterdir()) == sorted(f"a-{n}.svg" for n in names)
    assert "tornado: nothing to draw: nothing was asked by --sobol or --morris" in err
    one, other = tmp_path / "one.svg", tmp_path / "other.svg"
    for to, more in ((one, ()), (other, ("--of", "p95"))):
        assert callboard("plot", str(store), "intervals", "--to", str(to), *more)[0] == 0
    assert one.read_bytes() != other.read_bytes()


def test_of_a_store_to_come_there_is_nothing_to_show_yet(callboard: Run, tmp_path: Path) -> None:
    """An empty file was `not a Callboard journal`, in which `sweep --show` found nothing yet."""
    store = tmp_path / "s.sqlite"
    store.touch()
    for to in (("plot", "--to", f"{tmp_path}/a.svg"), ("report", "--to", f"{tmp_path}/a.html")):
        status, _, err = callboard(*to, str(store))
        assert (status, f"{store}: there is nothing in it yet" in err) == (2, True), err
    assert callboard("sweep", "--show", "--store", str(store))[0] == 0
    assert store.stat().st_size
    for to in (("plot", "--to", f"{tmp_path}/a.svg"), ("report", "--to", f"{tmp_path}/a.html")):
        status, _, err = callboard(*to, str(store))
        assert (status, f"{store}: there is nothing in it yet" in err) == (2, True), err


def test_a_journal_is_not_compared_with_itself(callboard: Run, tmp_path: Path) -> None:
    """It was two runs, `fifo` and `fifo #2`, of which one took about as long as the other."""
    (tmp_path / "folder").mkdir()
    path = record(tmp_path / "a.journal", STORY)
    other = tmp_path / "folder" / ".." / "a.journal"
    for to in (("plot", "--to", f"{tmp_path}/a.svg"), ("report", "--to", f"{tmp_path}/a.html")):
        status, _, err = callboard(*to, str(path), str(path))
        assert (status, f"{path}: this is named twice; name each" in err) == (2, True), err
        _, _, err = callboard(*to, str(path), str(other))
        assert f"{other}: this is named twice, as {path} too" in err


def test_what_a_store_cannot_show_is_said(
    callboard: Run, store: Path, journal: Path, tmp_path: Path
) -> None:
    for words, said in (
        ((str(store), "gantt"), "gantt: no figure of a store; these are intervals"),
        ((str(store), str(journal)), "a store is drawn alone"),
        ((str(journal), "tornado"), "tornado: no figure of a journal; these are ecdf"),
        ((str(journal), "ecdf", "--of", "mean"), "--of says what the figure measure is of"),
    ):
        status, _, err = callboard("plot", "--to", str(tmp_path / "a.svg"), *words)
        assert status == 2, said
        assert said in err
    status, _, err = callboard("plot", str(store), "ecdf", "--to", str(store))
    assert (status, "end the name in one of .svg" in err) == (2, True)


def test_a_slowdown_that_was_not_asked_for_is_asked_for(callboard: Run, tmp_path: Path) -> None:
    """It said that no run had it, and not what to do."""
    store, to = str(tmp_path / "s.sqlite"), str(tmp_path / "a.svg")
    words = ["two-jobs", "--policy", "fifo", "--policy", "fair", "--seeds", "2", "--cores", "1"]
    assert callboard("sweep", *words, "--store", store)[0] == 0
    for figure in ("intervals", "differences"):
        status, _, err = callboard("plot", store, figure, "--of", "slowdown", "--to", to)
        assert status == 2
        assert "the jobs were not played alone; sweep with --slowdown" in err


@pytest.mark.parametrize("figure", RUN_CHARTS)
def test_each_figure_of_journals_is_drawn_alone(
    callboard: Run, journal: Path, tmp_path: Path, figure: str
) -> None:
    """`debt` ended in a traceback unless `shares` was asked for too."""
    to = tmp_path / "a.svg"
    assert callboard("plot", str(journal), figure, "--to", str(to))[0] == 0
    assert to.read_text().startswith("<?xml")


@pytest.mark.parametrize("measure", MEASURES)
def test_each_measure_of_runs_is_drawn(
    callboard: Run, journal: Path, tmp_path: Path, measure: str
) -> None:
    """`slowdown` was refused, though the figure of that name plays the jobs alone."""
    to = tmp_path / "a.svg"
    assert callboard("plot", str(journal), "measure", "--of", measure, "--to", str(to))[0] == 0
    assert to.read_text().startswith("<?xml")


def test_any_measure_of_runs_is_drawn(callboard: Run, journal: Path, tmp_path: Path) -> None:
    to = tmp_path / "a.svg"
    for words in (["--of", "p99"], ["measure", "--of", "slot_seconds.wasted"], ["measure"]):
        assert callboard("plot", str(journal), *words, "--to", str(to))[:2][0] == 0
        assert to.read_text().startswith("<?xml")
    status, _, err = callboard("plot", str(journal), "--of", "eggs", "--to", str(to))
    assert status == 2
    assert "eggs: no measure is called so; there are mean, median" in err
    assert measure_named("slot_seconds.wasted").label == "slot time: wasted (s)"
    assert measure_named("slot_ms.map.idle").label == "slot time: map, idle (ms)"
    assert measure_named("jobs.failed").label == "jobs: failed"
    assert measure_named("shuffle_wait_seconds").label == "shuffle wait (s)"
    for path in ("jobs", "scenario", "reason", "slot_seconds.eggs", "jobs.failed.more", ""):
        with pytest.raises(InputError, match="no measure is called so"):
            measure_named(path)


def test_a_figure_has_the_size_the_pixels_and_the_title_that_were_asked_for(
    callboard: Run, journal: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    png = tmp_path / "a.png"
    look = ("--size", "5x2.5", "--dpi", "40", "--title", "Mine, <b> & $x$")
    for figure in ("ecdf", "gantt", "utilisation"):
        assert callboard("plot", str(journal), figure, *look, "--to", str(png))[0] == 0
        assert struct.unpack(">II", png.read_bytes()[16:24]) == (200, 100)
    capsys.readouterr()
    for words, said in (
        (("--size", "5"), "expected 2 to 60 inches each, as in 7x3"),
        (("--size", "0x3"), "expected 2 to 60 inches each"),
        (("--dpi", "5"), "expected a whole number between 20 and 1200"),
    ):
        with pytest.raises(SystemExit):
            callboard("plot", str(journal), "ecdf", *words, "--to", str(png))
        assert said in capsys.readouterr().err
    status, _, err = callboard(
        "plot", str(journal), "ecdf", "--size", "60x60", "--dpi", "600", "--to", str(png)
    )
    assert status == 2
    assert "36,000 pixels; 20,000 are the most" in err


def test_a_title_takes_the_place_of_the_figures_own() -> None:
    figure = ecdf_chart([story_run()])
    retitle(figure, "Mine")
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["Mine"]


def test_a_journal_is_never_written_over(callboard: Run, journal: Path) -> None:
    named_so = journal.with_suffix(".svg")
    journal.rename(named_so)
    before = named_so.read_bytes()
    status, _, err = callboard("plot", str(named_so), "ecdf", "--to", str(named_so))
    assert status == 2
    assert "this is what is to be drawn" in err
    assert named_so.read_bytes() == before


def test_a_full_disk_leaves_the_old_figure(
    callboard: Run, journal: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def half_written(_: object, path: Path, **_how: int) -> None:
        path.write_text("<svg")
        raise OSError(28, "No space left on device", str(path))

    to = tmp_path / "a.svg"
    to.write_text("the old one")
    monkeypatch.setattr(plot_command, "save_chart", half_written)
    before = sorted(tmp_path.iterdir())
    status, _, err = callboard("plot", str(journal), "ecdf", "--to", str(to))
    assert status == 2
    assert f"{to}: No space left on device" in err
    assert to.read_text() == "the old one"
    assert sorted(tmp_path.iterdir()) == before


def test_without_matplotlib(
    callboard: Run, journal: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    status, _, err = callboard("plot", str(journal), "ecdf", "--to", str(tmp_path / "a.svg"))
    assert status == 2
    assert "pip install 'callboard[experiments]'" in err
