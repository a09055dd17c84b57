"""The bundled morning: HFSP's mean response time is well below Fair's."""

from pathlib import Path

from callboard.play import Options, play
from scenarios import spec

MORNING = Path(__file__).parents[2] / "scenarios" / "library" / "facebook-morning.toml"


def test_hfsps_mean_response_time_is_more_than_a_fifth_below_fairs() -> None:
    """Measured when this was written: 1,160 s under Fair, 855 s under HFSP."""
    scenario = spec.load(MORNING, [])
    jobs = spec.make_jobs(scenario, MORNING.parent)
    means = {}
    for policy in ("fair", "hfsp"):
        summary = play(scenario, jobs, policy, Options(host="direct")).summary
        means[policy] = summary.response_seconds.mean or 0.0
    assert 0.0 < means["hfsp"] < 0.8 * means["fair"]
