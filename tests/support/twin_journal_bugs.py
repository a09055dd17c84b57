"""Bugs for what writes the twin's journals, and a drawn world whose journal shows each."""

from tests.support.twin_bugs import TwinBug, twin_bug
from tests.support.twin_worlds import INITIALISED_FROM

_COLUMNS = "twin/event_columns.py"
_LOG = "twin/kept_log.py"
_REASONS = "twin/launch_reasons.py"
_WORDS = "twin/told_reasons.py"


JOURNAL_BUGS: tuple[TwinBug, ...] = (
    twin_bug(
        0,
        _COLUMNS,
        "what takes no time ends in the round in which it began",
        "np.where(_are_reduces(log), 1, 2), 0)",
        "np.where(_are_reduces(log), 1, 1), 0)",
    ),
    twin_bug(
        8,
        _COLUMNS,
        "a job ends before it is submitted",
        "tellers[ended] + 1)",
        "tellers[ended] - 1)",
    ),
    twin_bug(
        346,
        _COLUMNS,
        "a reduce that asks when the last map is booked has not waited",
        "        waited = asked_ms <= w.jobs[jobs, c.MAPPED]",
        "        waited = asked_ms < w.jobs[jobs, c.MAPPED]",
    ),
    twin_bug(
        1,
        _COLUMNS,
        "a setup is caused by its own end",
        "            self._first_known_cause(jobs, _READY),",
        "            self._first_known_cause(jobs, _PREPARED),",
    ),
    twin_bug(
        1,
        _COLUMNS,
        "a setup is caused by what freed its slot",
        "        causes = np.where(of_tasks & taken,",
        "        causes = np.where(taken,",
    ),
    twin_bug(
        0,
        _COLUMNS,
        "attempts keep their rows when those before them go",
        "        moved[kept] = np.arange(len(kept))",
        "        moved[kept] = kept",
    ),
    twin_bug(
        0,
        _LOG,
        "the slot that was freed last is taken first",
        "    attempt = w.berths[first, c.FREED_BY]",
        "    attempt = w.berths[first + freed - 1, c.FREED_BY]",
    ),
    twin_bug(
        1,
        _LOG,
        "reduces are caused by the last map",
        "    if kind == c.MAPS_HERE and reduces and done == w.jobs[job, c.SLOWSTART]:",
        "    if kind == c.MAPS_HERE and reduces and done == maps:",
    ),
    twin_bug(
        4,
        _REASONS,
        "who is launched stood first",
        "    w.log[row, c.LOG_RANK] = w.state[c.RANK] + 1 if waits else 1",
        "    w.log[row, c.LOG_RANK] = 1",
    ),
    twin_bug(
        424,
        _REASONS,
        "the wait for the rack is that for the node",
        "        return int(w.given[c.RACK_WAIT])",
        "        return int(w.given[c.NODE_WAIT])",
    ),
    twin_bug(
        159,
        _REASONS,
        "the lowest needy pool is told",
        "            w.log[row, c.LOG_PART] = pool",
        "            w.log[row, c.LOG_PART] = max(pool, w.log[row, c.LOG_PART])",
    ),
    twin_bug(
        1,
        "twin/locality_waits.py",
        "what a job was passed over in all is counted from its last local map",
        "    w.jobs[job, c.WAITED] = w.jobs[job, c.SKIPS_IN_ALL] = 0",
        "    w.jobs[job, c.WAITED] = 0",
    ),
    twin_bug(
        4,
        "twin/trained_phases.py",
        "the attempt before is told to have measured a phase",
        "    _finish_training(w, kind, job, w.berths[berth, c.IN_LOG] + 1)",
        "    _finish_training(w, kind, job, w.berths[berth, c.IN_LOG])",
    ),
    twin_bug(
        5,
        _WORDS,
        "sizes are told in milliseconds",
        "            return score / 1000",
        "            return score / 1.0",
    ),
    twin_bug(
        INITIALISED_FROM + 1,
        _COLUMNS,
        "an initialisation is its own cause",
        "            self._of_jobs[ready, _SUBMITTED],",
        "            self._of_jobs[ready, _READY],",
    ),
)
