"""Generated workloads: the published tables, what is drawn from them, and addressed draws."""

from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from callboard.actors.job_spec import JobSpec
from callboard.scenarios import published
from callboard.scenarios.arrivals import AtOnce, Bursts, Counted, Poisson, Tailed, UniformGaps
from callboard.scenarios.categories import FacebookCategories, Yahoo
from callboard.scenarios.decks import FacebookBins, GpMix, jobs_of_table_three
from callboard.scenarios.generators import TAIL, GeneratedWorkload, Sizes
from callboard.scenarios.scenario_file import from_dict, make_jobs
from callboard.scenarios.sizes import (
    ExponentialJobs,
    FacebookMaps,
    HfspDev,
    HfspProd,
    HfspTest,
    log_interpolated,
    weighted_index,
)
from callboard.scheduler.model import Priority
from tests.scenarios.support import error_of, generated, raw

MODELS: list[Sizes] = [
    HfspDev(),
    HfspTest(),
    HfspProd(),
    FacebookMaps(),
    ExponentialJobs(),
    GpMix(),
    FacebookBins(),
    Yahoo(),
    FacebookCategories(),
]


def made(sizes: Sizes, jobs: int, seed: int = 1, **fields: Any) -> list[JobSpec]:
    return GeneratedWorkload(sizes=sizes, jobs=jobs, **fields).make_jobs(seed)


def shapes(jobs: Sequence[JobSpec]) -> list[tuple[object, ...]]:
    return [job.solo_time_key for job in jobs]


def test_table_three_adds_up_as_printed() -> None:
    """130 jobs; the first column of the print is 49, 21, 18, 11, 8, 8, 5, 5, 2, 1, 1, 1."""
    rows = Counter(maps for maps, _ in jobs_of_table_three())
    assert list(rows.values()) == [49, 21, 18, 11, 8, 8, 5, 5, 2, 1, 1, 1]
    assert list(rows) == [1, 2, 10, 50, 100, 250, 400, 800, 1500, 3000, 5000, 8000]
    assert len(jobs_of_table_three()) == 130
    assert jobs_of_table_three().count((250, 2500)) == 1
    assert jobs_of_table_three().count((1, 100)) == 16


def test_the_other_tables_add_up() -> None:
    assert all(sum(mix) == 100 for mix in published.HFSP_MIX.values())
    assert [sum(row.jobs for row in rows) for rows in (published.YAHOO, published.FACEBOOK)] == [
        200,
        200,
    ]
    for table in (published.FACEBOOK_MAPS, published.FACEBOOK_SECONDS):
        assert list(table) == sorted(table)
        assert [value for _, value in table] == sorted(value for _, value in table)


def test_the_mix_of_global_preemption_is_dealt_exactly() -> None:
    jobs = made(GpMix(), 130)
    dealt = Counter((job.maps, job.map_ms) for job in jobs)
    assert dealt == Counter(
        (maps, round(1000 * seconds)) for maps, seconds in jobs_of_table_three()
    )
    assert shapes(jobs) != shapes(made(GpMix(), 130, seed=2))
    two_decks = made(GpMix(), 260)
    assert Counter(shapes(two_decks[130:])) == Counter(shapes(jobs))
    assert shapes(two_decks[130:]) != shapes(jobs)


def test_thirty_per_cent_of_the_mix_can_be_production() -> None:
    jobs = made(GpMix(production_share=0.3, other_pool="research"), 130)
    assert Counter(job.pool for job in jobs) == {"production": 39, "research": 91}
    assert shapes(jobs) == shapes(made(GpMix(), 130))


@pytest.mark.parametrize("place", [1, 66, 92, 130])
def test_the_long_job_can_have_its_place_and_is_never_production(place: int) -> None:
    jobs = made(GpMix(production_share=0.3, long_place=place), 155)
    assert [n for n, job in enumerate(jobs, start=1) if job.map_ms == 2_500_000] == [place]
    assert Counter(shapes(jobs[:130])) == Counter(shapes(made(GpMix(), 130)))
    assert Counter(job.pool for job in jobs[:130]) == {"production": 39, "": 91}


def test_without_a_place_the_long_job_is_no_production_either() -> None:
    for seed in range(1, 20):
        jobs = made(GpMix(production_share=0.9), 130, seed=seed)
        assert {job.pool for job in jobs if job.map_ms == 2_500_000} == {""}


@pytest.mark.parametrize(
    ("sizes", "expected"),
    [(HfspDev(), (65, 20, 10, 5)), (HfspTest(), (30, 40, 10, 20)), (HfspProd(), (0, 10, 60, 30))],
)
def test_hfsp_bins_come_in_the_printed_shares(sizes: Sizes, expected: tuple[int, ...]) -> None:
    """Of 10,000 jobs, each share is within 1.5 % of the print: three standard deviations."""
    jobs = made(sizes, 10_000)
    bins = Counter(job.name.split("-")[0] for job in jobs)
    for number, share in enumerate(expected, start=1):
        assert bins[f"bin{number}"] / 100 == pytest.approx(share, abs=1.5)
    limits = {"bin1": (1, 4), "bin2": (10, 50), "bin3": (51, 150), "bin4": (151, 500)}
    for job in jobs:
        low, high = limits[job.name.split("-")[0]]
        assert low <= job.maps <= high


def test_most_hfsp_maps_end_within_a_minute() -> None:
    """Log-normal with median 30 s and shape 0.5: P(under 60 s) = Phi(ln 2 / 0.5) = 0.917."""
    jobs = made(HfspDev(), 10_000)
    assert sum(job.map_ms < 60_000 for job in jobs) / 10_000 == pytest.approx(0.917, abs=0.01)


def test_facebook_maps_follow_the_printed_distribution() -> None:
    """Of 20,000 jobs, the share with at most that many maps is within 1 % of each printed point."""
    maps = [job.maps for job in made(FacebookMaps(), 20_000)]
    for share, most in published.FACEBOOK_MAPS:
        assert sum(m <= most for m in maps) / 20_000 == pytest.approx(share, abs=0.01)
    assert max(maps) > 20_000


def test_facebook_running_times_follow_the_printed_distribution() -> None:
    """The curve goes through every printed point, and its mean is the text's 300 to 450 s."""
    model = FacebookMaps()
    for share, seconds in published.FACEBOOK_SECONDS:
        assert model.running_seconds_at(share) == seconds
    assert model.running_seconds_at(0.0) == 20
    assert model.running_seconds_at(0.999) == 10_000
    mean = sum(model.running_seconds_at((i + 0.5) / 10_000) for i in range(10_000)) / 10_000
    assert 300 <= mean <= 450


def test_a_facebook_job_is_cut_into_waves() -> None:
    """The 97 % point: 1,500 maps, 15 waves of 100; 300 s of maps in 15 waves are 20 s each."""
    model = FacebookMaps(map_only_share=1, shortest_s=300, longest_s=300)
    sizes = model.sizes(1, 2000)
    assert {size.map_ms for size in sizes if size.maps <= 100} == {300_000}
    assert {size.map_ms for size in sizes if 1400 < size.maps <= 1500} == {20_000}
    assert {size.map_ms for size in sizes if size.maps > 6000} == {5000}


def test_a_facebook_job_with_reduces_divides_its_running_time() -> None:
    """100 s: 60 in maps, 20 in the shuffle, 20 in the reduce proper; a reduce for ten maps."""
    model = FacebookMaps(map_only_share=0, shortest_s=100, longest_s=100)
    for size in model.sizes(1, 200):
        assert size.reduces == -(-size.maps // 10)
        if size.maps <= 100:
            assert (size.map_ms, size.shuffle_ms, size.reduce_ms) == (60_000, 20_000, 20_000)


@pytest.mark.parametrize("model", [Yahoo(), FacebookCategories()])
def test_categories_keep_their_task_seconds(model: Yahoo | FacebookCategories) -> None:
    """A job's tasks together take its row's task-seconds, but for the rounding to a ms each."""
    by_name = {row.name: row for row in model.ROWS}
    jobs = made(model, 2000)
    assert {job.user for job in jobs} == set(by_name)
    for job in jobs:
        row = by_name[job.user]
        assert job.maps * job.map_ms == pytest.approx(1000 * row.map_s, abs=job.maps)
        each = job.shuffle_ms + job.reduce_ms
        assert job.reduces * each == pytest.approx(1000 * row.reduce_s, abs=job.reduces + 1)
        assert job.map_ms <= 1000 * row.duration_s


def test_categories_by_hand() -> None:
    """Yahoo!'s small job: 174 MB are two blocks, 412 task-seconds in 60 s at least seven maps.

    740 task-seconds of reduce in 60 s: at least 13 reduces, each 56.923 s, a third of it shuffle.
    Facebook's data transform: 255 GB are 1,993 blocks, 788 GB of shuffle 788 reduces.
    """
    small = next(job for job in made(Yahoo(), 50) if job.user == "small-jobs")
    assert small.solo_time_key == (7, 58_857, 13, 18_974, 37_949)
    large = next(job for job in made(FacebookCategories(), 200) if job.user == "data-transform")
    assert (large.maps, large.reduces) == (1993, 788)


def test_categories_come_as_often_as_in_the_print() -> None:
    jobs = made(Yahoo(), 10_000)
    users = Counter(job.user for job in jobs)
    for row in published.YAHOO:
        assert users[row.name] / 10_000 == pytest.approx(row.jobs / 200, abs=0.015)


def test_reduces_can_grow_with_the_data() -> None:
    """They work a tenth of what the maps do, but for their own factor; a fifth of that shuffles."""
    sizes = HfspTest(reduce_share=0.1, reduces=(1, 2, 3, 0), shuffle_part=0.2, reduce_sigma=0)
    jobs = made(sizes, 60)
    assert {(job.name[:4], job.reduces) for job in jobs} == {
        ("bin1", 1),
        ("bin2", 2),
        ("bin3", 3),
        ("bin4", 0),
    }
    for job in jobs:
        assert job.map_ms == made(HfspTest(), 60)[job.job].map_ms
        if job.reduces:
            work = job.reduces * (job.shuffle_ms + job.reduce_ms)
            assert work == pytest.approx(0.1 * job.maps * job.map_ms, abs=2 + 2 * job.reduces)
            assert job.shuffle_ms == pytest.approx(job.reduce_ms / 4, abs=2)


def test_a_task_scale_makes_jobs_smaller_and_leaves_their_tasks() -> None:
    full, tenth = made(Yahoo(), 300), made(Yahoo(task_scale=0.1), 300)
    for whole, part in zip(full, tenth, strict=True):
        assert part.maps == max(1, round(whole.maps / 10))
        assert (part.map_ms, part.shuffle_ms) == (whole.map_ms, whole.shuffle_ms)


RESOURCES = {
    "io": {"exec_mhz": 5, "retrieve_mbps": 9000},
    "cpu": {"exec_mhz": 500, "retrieve_mbps": 0.04},
}


def test_on_a_resource_tasks_compute_at_its_rate_and_read_at_its_rate() -> None:
    """Yahoo!'s small job reads 174 + 73 MB: 49,400 s at 40 Kbps, 0.22 s at 9 Gbps, beside 1,152 s
    of tasks at 500 MHz, which are a hundred times as long at 5 MHz.
    """
    sizes = {"kind": "yahoo", "resources": RESOURCES}
    group = [{"nodes": 1, "node_type": name} for name in RESOURCES]
    plain = generated(sizes=sizes, jobs=50, users=1) | {"cluster": {"nodes": 0, "group": group}}
    plain["cluster"]["racks"] = 1
    small = next(job for job in make_jobs(from_dict(plain)) if job.user == "small-jobs")
    assert small.duration_factor_on("cpu") == pytest.approx(1 + 49_400 / 1152)
    assert small.duration_factor_on("io") == pytest.approx(100 + 0.2196 / 1152, abs=1e-6)
    assert small.duration_factor_on("") == 1


def test_a_resource_that_no_node_has_is_refused() -> None:
    plain = generated(sizes={"kind": "yahoo", "resources": RESOURCES})
    error = error_of(lambda: from_dict(plain))
    assert "workload.sizes.resources.io" in str(error)
    assert 'no node is of the type "io"' in str(error)


@pytest.mark.parametrize("model", MODELS, ids=lambda model: type(model).__name__)
def test_more_jobs_leave_the_first_ones_equal(model: Sizes) -> None:
    fields: dict[str, Any] = {"users": 5, "pools": ("a", "b"), "arrivals": Bursts()}
    few, many = made(model, 40, **fields), made(model, 300, **fields)
    assert many[:40] == few
    assert made(model, 40, **fields) == few
    assert shapes(made(model, 40, seed=2)) != shapes(few)


def test_arrivals_and_sizes_do_not_touch_each_other() -> None:
    plain = made(FacebookMaps(), 100)
    other_sizes = made(HfspProd(), 100)
    other_arrivals = made(FacebookMaps(), 100, arrivals=AtOnce())
    assert [job.submit_ms for job in other_sizes] == [job.submit_ms for job in plain]
    assert shapes(other_arrivals) == shapes(plain)


@pytest.mark.parametrize(
    ("model", "jobs"), [(HfspDev(), 100), (GpMix(), 130), (Yahoo(), 100), (FacebookMaps(), 100)]
)
def test_the_number_of_jobs_is_the_papers_unless_said(model: Sizes, jobs: int) -> None:
    assert len(GeneratedWorkload(sizes=model).make_jobs(1)) == jobs


def test_poisson_gaps_have_their_mean() -> None:
    """The mean of 10,000 exponential gaps is within 3 % (three standard deviations)."""
    times = Poisson(mean_s=30).submit_times(1, 10_000)
    assert times == sorted(times)
    assert times[-1] / 10_000 == pytest.approx(30_000, rel=0.03)


def test_bursts_keep_both_rates() -> None:
    """Of a cycle of 600 s busy (a job each 5 s) and 300 s idle (each 60 s): 120 and 5 jobs."""
    times = Bursts(on_s=600, on_mean_s=5, off_s=300, off_mean_s=60).submit_times(1, 12_500)
    assert times == sorted(times)
    busy = sum(time % 900_000 < 600_000 for time in times)
    assert busy / len(times) == pytest.approx(120 / 125, abs=0.01)
    assert times[-1] / 900_000 == pytest.approx(100, rel=0.03)


def test_a_silent_idle_spell_has_no_arrivals() -> None:
    times = Bursts(on_s=60, on_mean_s=5, off_s=600, off_mean_s=0).submit_times(1, 1000)
    assert all(time % 660_000 <= 60_000 for time in times)
    assert times[-1] > 40 * 660_000


def test_even_gaps_and_none() -> None:
    assert UniformGaps(shortest_s=2, longest_s=2).submit_times(1, 3) == [2000, 4000, 6000]
    gaps = UniformGaps(shortest_s=1, longest_s=3).submit_times(1, 500)
    assert all(1000 <= b - a <= 3000 for a, b in pairwise(gaps))
    assert Tailed(busy_jobs=3).submit_times(1, 3) == Poisson().submit_times(1, 3)
    busy, tail = Tailed(busy_jobs=1), Tailed(busy_jobs=2)
    assert busy.submit_times(1, 2)[0] == tail.submit_times(1, 2)[0]
    assert 30 * np.diff(busy.submit_times(1, 2)) == pytest.approx(
        80 * np.diff(tail.submit_times(1, 2)), abs=100
    )
    assert AtOnce(at_s=1.5).submit_times(1, 2) == [1500, 1500]


def test_counted_jobs_are_as_many_as_each_stretch_has() -> None:
    """HFSP's Figure 10: 18 within 0.2 h and 35 within 0.16 h; after the last the first again."""
    stretches = ((1440.0, 16), (720.0, 18), (2664.0, 31), (576.0, 35))
    times = Counted(stretches=stretches).submit_times(1, 150)
    assert times == sorted(times)
    ends_s = np.cumsum([length for length, _ in stretches])
    counts, _ = np.histogram(times, 1000 * np.concatenate([[0], ends_s, 5400 + ends_s[:3]]))
    assert counts.tolist() == [16, 18, 31, 35, 16, 18, 16]
    assert Counted(stretches=stretches).submit_times(1, 20) == times[:20]


def test_users_and_pools_are_drawn_evenly() -> None:
    jobs = made(FacebookMaps(), 3000, users=3, pools=("a", "b"))
    assert {job.user for job in jobs} == {"user0", "user1", "user2"}
    assert Counter(job.pool for job in jobs)["a"] == pytest.approx(1500, abs=100)
    assert {job.user for job in made(FacebookMaps(), 5)} == {"user"}


@pytest.mark.parametrize(
    ("workload", "key"),
    [
        ({"sizes": {"kind": "facebook-maps", "map_share": 0.9}}, "workload.sizes.map_share"),
        ({"sizes": {"kind": "facebook-maps", "longest_s": 5}}, "workload.sizes.longest_s"),
        ({"arrivals": {"kind": "uniform", "longest_s": 1}}, "workload.arrivals.longest_s"),
        ({"arrivals": {"kind": "poisson", "mean_s": 0}}, "workload.arrivals.mean_s"),
        ({"sizes": {"kind": "hfsp-dev", "largest_maps": 100}}, "workload.sizes.largest_maps"),
        ({"jobs": 0}, "workload.jobs"),
        ({"jobs": 1_000_001}, "workload.jobs"),
        ({"users": 0}, "workload.users"),
    ],
)
def test_fields_that_make_no_sense_are_refused(workload: dict[str, Any], key: str) -> None:
    assert error_of(lambda: from_dict(generated(**workload))).key == key


def test_a_scale_that_makes_too_many_tasks_is_refused() -> None:
    sizes = {"kind": "yahoo", "task_scale": 1000}
    scenario = from_dict(generated(sizes=sizes, jobs=200))
    assert "2,000,000 tasks" in str(error_of(lambda: make_jobs(scenario)))


def test_listed_jobs_are_sorted_and_repeated() -> None:
    entries = [
        {"maps": 1, "map_s": 10, "at_s": 60, "name": "late", "priority": "very_high"},
        {"maps": 2, "map_s": 0.0001, "count": 3, "every_s": 5, "user": "ann", "pool": "p"},
        {"maps": 3, "map_s": 1, "at_s": 5, "reduces": 2, "shuffle_s": 1.5, "reduce_s": 2},
    ]
    jobs = make_jobs(from_dict(raw(workload={"kind": "jobs", "job": entries})))
    assert [(job.job, job.name, job.submit_ms) for job in jobs] == [
        (0, "job-0", 0),
        (1, "job-1", 5000),
        (2, "job-2", 5000),
        (3, "job-3", 10_000),
        (4, "late", 60_000),
    ]
    assert (jobs[0].user, jobs[0].pool, jobs[0].map_ms) == ("ann", "p", 1)
    assert jobs[2].solo_time_key == (3, 1000, 2, 1500, 2000)
    assert (jobs[4].priority, jobs[0].priority) == (Priority.VERY_HIGH, Priority.NORMAL)


def test_a_name_that_an_unnamed_job_has_by_its_number_is_refused() -> None:
    entries = [{"maps": 1, "map_s": 1}, {"maps": 1, "map_s": 1, "at_s": 1, "name": "job-0"}]
    scenario = from_dict(raw(workload={"kind": "jobs", "job": entries}))
    error = error_of(lambda: make_jobs(scenario))
    assert error.key == "workload.job[1].name"
    assert 'a second job is called "job-0"' in error.problem


@pytest.mark.parametrize(
    ("entries", "key"),
    [
        ([{"name": "a"}, {"name": "a"}], "workload.job[1].name"),
        ([{"name": "a", "count": 2}, {"name": "a-2"}], "workload.job[1].name"),
        ([{"count": 600_000}, {"count": 600_000}], "workload.job"),
        ([{"priority": "urgent"}], "workload.job[0].priority"),
        ([{"map_s": 0}], "workload.job[0].map_s"),
    ],
)
def test_a_list_of_jobs_that_makes_no_sense_is_refused(
    entries: list[dict[str, Any]], key: str
) -> None:
    full = [{"maps": 1, "map_s": 1, **entry} for entry in entries]
    assert error_of(lambda: from_dict(raw(workload={"kind": "jobs", "job": full}))).key == key


def test_only_the_first_jobs_of_a_list_can_be_taken() -> None:
    entries = [{"maps": 1, "map_s": 1, "count": 5}]
    scenario = from_dict(raw(workload={"kind": "jobs", "job": entries, "jobs": 2}))
    assert len(make_jobs(scenario)) == 2


def test_pick_and_interpolation_by_hand() -> None:
    """Weights 1, 3: below 0.25 the first.  Half way from 10 to 1,000 in the logarithm is 100."""
    assert [weighted_index((1, 3), draw) for draw in (0.0, 0.2499, 0.25, 0.999)] == [0, 0, 1, 1]
    assert weighted_index((0, 1), 0.0) == 1
    points = ((0.0, 10.0), (0.5, 1000.0))
    assert log_interpolated(points, 0.25) == pytest.approx(100)
    assert [log_interpolated(points, share) for share in (0.0, 0.5, 0.9)] == [10, 1000, 1000]


def kind_of(job: JobSpec) -> str:
    return job.name.rstrip("-.0123456789")


def test_the_mixed_workload_has_the_printed_sums() -> None:
    """VI.B: 34 Aggregate jobs with 10,608 maps, 15 Join instances of three jobs each, the rest is
    Grep: 25 jobs that read, with 15,554 maps, and 56 that compute, with 1,589.
    """
    jobs = made(GpMix(variant="mixed", maps_per_reduce=10), 130)
    assert Counter(map(kind_of, jobs)) == {"grep": 81, "aggregate": 34, "join": 45}
    maps = Counter[str]()
    for job in jobs:
        maps[kind_of(job)] += job.maps
        assert (job.reduces > 0) == (kind_of(job) != "grep")
    assert maps == {"grep": 15_554 + 1589, "aggregate": 10_608, "join": 3 * 870}


def test_the_mixed_workload_is_table_three_too() -> None:
    jobs = [job for job in made(GpMix(variant="mixed"), 130) if "." not in job.name]
    dealt = Counter((job.maps, job.map_ms) for job in jobs)
    assert dealt == Counter(
        (maps, round(1000 * seconds)) for maps, seconds in jobs_of_table_three()
    )


def test_a_join_is_three_jobs_each_a_wave_after_the_one_before() -> None:
    jobs = made(GpMix(variant="mixed", maps_per_reduce=10, production_share=0.3), 130)
    assert [job.job for job in jobs] == list(range(160))
    assert [job.submit_ms for job in jobs] == sorted(job.submit_ms for job in jobs)
    first, second, third = (job for job in jobs if job.name.split(".")[0] == joins(jobs)[0])
    wave_ms = first.map_ms + first.shuffle_ms + first.reduce_ms
    assert [second.submit_ms, third.submit_ms] == [
        first.submit_ms + wave_ms,
        first.submit_ms + 2 * wave_ms,
    ]
    assert first.solo_time_key == second.solo_time_key == third.solo_time_key
    assert first.pool == second.pool == third.pool


def joins(jobs: Sequence[JobSpec]) -> list[str]:
    return [job.name for job in jobs if kind_of(job) == "join" and "." not in job.name]


def test_jobs_of_a_tail_are_named_so() -> None:
    for counted, sizes in (130, GpMix(long_place=66)), (160, GpMix(variant="mixed")):
        jobs = made(sizes, 155, arrivals=Tailed(busy_jobs=130))
        assert sum(not job.name.startswith(TAIL) for job in jobs) == counted
        assert sum("." not in job.name for job in jobs) == 155


def test_the_macrobenchmark_has_nine_bins() -> None:
    """100 jobs with 26,410 maps, 73 % of them in the four largest (global preemption, III.B)."""
    for model, computing in (
        (FacebookBins(), 0),
        (FacebookBins(load="cpu"), 100),
        (FacebookBins(load="mixed"), 50),
    ):
        jobs = made(model, 100)
        maps = sorted(job.maps for job in jobs)
        assert (len(maps), sum(maps)) == (100, 26_410)
        assert sum(maps[-4:]) / sum(maps) == pytest.approx(0.73, abs=0.005)
        assert sum(job.name.startswith("cpu-") for job in jobs) == computing
        assert len({kind for job in jobs if (kind := job.name.split("-")[1])}) == 9
    assert shapes(made(FacebookBins(), 100)) != shapes(made(FacebookBins(), 100, seed=2))
