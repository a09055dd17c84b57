"""The published tables of job sizes: numbers as printed, each with its source."""

import msgspec

HFSP_BINS: tuple[tuple[int, int | None], ...] = ((1, 4), (10, 50), (50, 150), (150, None))
"""Fewest and most maps of a job in bins 1 to 4: under 5, 10-50, 50-150, over 150.

M. Pastorelli, D. Carra, M. Dell'Amico, P. Michiardi, HFSP: Bringing Size-Based Scheduling To
Hadoop, Table I.
"""

HFSP_MIX: dict[str, tuple[int, int, int, int]] = {
    "dev": (65, 20, 10, 5),
    "test": (30, 40, 10, 20),
    "prod": (0, 10, 60, 30),
}
"""Per cent of the jobs in bins 1 to 4, by workload (ibid.).  Mean gaps: 30 s, 60 s, 60 s."""

HFSP_JOBS = 100  # in each of the paper's workloads (section V.A)

FACEBOOK_MAPS: tuple[tuple[float, int], ...] = (
    (0.39, 1),
    (0.55, 2),
    (0.69, 20),
    (0.78, 60),
    (0.84, 150),
    (0.90, 350),
    (0.94, 500),
    (0.97, 1500),
    (0.98, 3065),
    (0.99, 3846),
    (0.995, 6232),
)
"""Share of Facebook's jobs with at most this many maps.  The largest: over 25,000.

L. Cheng, Q. Zhang, R. Boutaba, Mitigating the Negative Impact of Preemption on Heterogeneous
MapReduce Workloads, Table II.
"""

FACEBOOK_SECONDS: tuple[tuple[float, float], ...] = (
    (0.40, 55.0),
    (0.50, 90.0),
    (0.60, 120.0),
    (0.70, 150.0),
    (0.80, 350.0),
    (0.90, 650.0),
    (0.95, 1200.0),
    (0.98, 3000.0),
    (0.99, 5000.0),
)
"""Share of Facebook's jobs that run at most this many seconds; 99.5 %: over 10,000 (Table I(a)).

A 600-node cluster with 3,100 map slots; the text gives a mean of 300 to 450 s.
"""

GP_MIX: tuple[tuple[int, tuple[tuple[float, int], ...]], ...] = (
    (1, ((100, 16), (160, 16), (300, 11), (600, 6))),
    (2, ((100, 7), (160, 7), (300, 4), (600, 3))),
    (10, ((100, 7), (160, 6), (300, 3), (600, 2))),
    (50, ((100, 4), (160, 4), (300, 2), (600, 1))),
    (100, ((100, 4), (160, 3), (300, 1))),
    (250, ((30, 3), (60, 2), (100, 2), (2500, 1))),
    (400, ((30, 2), (60, 2), (100, 1))),
    (800, ((12, 1), (30, 2), (60, 2))),
    (1500, ((8, 1), (12, 1))),
    (3000, ((20, 1),)),
    (5000, ((6, 1),)),
    (8000, ((5, 1),)),
)
"""Maps of a job; then mean seconds of a map and how many such jobs: 130 in all (Table III).

The 250-map job of 2,500 s is the paper's heavy-tailed long one.
"""


GP_MIXED: dict[str, tuple[tuple[int, float], ...]] = {
    "aggregate": (
        *((1, 100.0),) * 10,
        *((1, 160.0),) * 12,
        *((2, 100.0),) * 3,
        (10, 100.0),
        *((10, 160.0),) * 2,
        (50, 100.0),
        (100, 160.0),
        (800, 30.0),
        *((800, 60.0),) * 2,
        (8000, 5.0),
    ),
    "join": (
        *((1, 100.0),) * 2,
        *((2, 100.0),) * 4,
        (10, 100.0),
        *((50, 100.0),) * 2,
        *((100, 100.0),) * 4,
        (100, 160.0),
        (250, 100.0),
    ),
}
"""Which of the 130 jobs are Aggregate (34 with 10,608 maps) and which are Join (15) where the
workload is mixed; the others are Grep.

The paper prints how many jobs and maps there are of each kind (section VI.B: Grep 25 with 15,554
maps that read, 56 with 1,589 that compute), which leaves 870 of the 28,621 maps to Join, but not
which they are.  These meet all sums; of all ways to meet them this is one in which the jobs that
read have the shortest maps and those that compute the longest.
"""

GP_JOIN_JOBS = 3
"""A Join is this many consecutive jobs, which makes 160 of the 130."""

FACEBOOK_BINS: tuple[tuple[int, int], ...] = (
    (1, 38),
    (2, 16),
    (10, 14),
    (50, 8),
    (100, 6),
    (200, 6),
    (400, 4),
    (800, 4),
    (4800, 4),
)
"""Maps of a job, and how many of the 100 jobs of the macrobenchmark have that many.

M. Zaharia et al., Delay Scheduling, EuroSys 2010, Table 1.  The slides name the nine bins, 1 to 10
blocks for small jobs, 50 to 800 for medium ones and 4,800 for large ones; global preemption's
section III.B that the 4 largest hold 73 % of 26,410 maps, which these do.
"""


class Category(msgspec.Struct, frozen=True):
    """One row of a cluster analysis of jobs: how many, what one reads, and its whole length;
    `map_s` and `reduce_s` are seconds summed over all its tasks of a kind.
    """

    name: str
    jobs: int
    duration_s: int
    input_mb: float
    shuffle_mb: float
    map_s: int
    reduce_s: int


_GB = 1_000.0
_TB = 1_000_000.0

YAHOO: tuple[Category, ...] = (
    Category("small-jobs", 114, 60, 174, 73, 412, 740),
    Category("fast-aggregate", 23, 2100, 568 * _GB, 76 * _GB, 270376, 589385),
    Category("expand-and-aggregate", 10, 2400, 206 * _GB, 1.5 * _TB, 983998, 1425941),
    Category("transform-expand", 5, 9300, 806 * _GB, 235 * _GB, 257567, 979181),
    Category("data-summary", 7, 13500, 4.9 * _TB, 78 * _GB, 4481926, 1663358),
    Category("large-data-summary", 4, 30900, 31 * _TB, 937 * _GB, 33606055, 31884004),
    Category("data-transform", 36, 3600, 36 * _GB, 15 * _GB, 15021, 13614),
    Category("large-data-transform", 1, 16800, 5.5 * _TB, 10 * _TB, 7729409, 8305880),
)
"""Job categories of a Yahoo! trace.

A. Rasooli, D. G. Down, A Hybrid Scheduling Approach for Scalable Heterogeneous Hadoop Systems,
Table I, after Y. Chen et al.
"""

FACEBOOK: tuple[Category, ...] = (
    Category("small-jobs", 126, 32, 0.021, 0, 20, 0),
    Category("fast-data-load", 25, 1260, 0.381, 0, 6079, 0),
    Category("slow-data-load", 3, 6600, 0.010, 0, 26321, 0),
    Category("large-data-load", 10, 4200, 0.405, 0, 66657, 0),
    Category("huge-data-load", 3, 18300, 0.446, 0, 125662, 0),
    Category("fast-aggregate", 10, 900, 230 * _GB, 8.8 * _GB, 104338, 66760),
    Category("aggregate-and-expand", 6, 1800, 1.9 * _TB, 502, 348942, 76736),
    Category("expand-and-aggregate", 2, 5100, 418 * _GB, 2.5 * _TB, 1076089, 974395),
    Category("data-transform", 14, 2100, 255 * _GB, 788 * _GB, 384562, 338050),
    Category("data-summary", 1, 3300, 7.6 * _TB, 51 * _GB, 4843452, 853911),
)
"""Job categories of a Facebook trace, May to October 2009 (ibid., Table IV)."""
