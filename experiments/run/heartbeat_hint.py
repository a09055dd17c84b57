"""Whether an answer about more or fewer nodes hangs on how often they report.

By Hadoop's rule the heartbeat interval grows with the cluster (rule H1): on fewer nodes a free slot
is noticed sooner, so that a smaller cluster can be the faster one.
"""

from collections.abc import Iterable

from callboard.actors.config import Cluster


def interval_hint(clusters: Iterable[Cluster]) -> str:
    """What to know before these clusters are compared, of which the first is the one that the
    others are set against; empty if all have one interval, or if theirs are stated.
    """
    ruled = [each for each in clusters if each.heartbeat.interval_ms is None]
    found = {each.heartbeat.period_ms(each.node_count()): each.node_count() for each in ruled[::-1]}
    if len(found) < 2:
        return ""
    first_ms = ruled[0].heartbeat.period_ms(ruled[0].node_count())
    told = ", ".join(f"{ms / 1000:g} s on {found[ms]:,} nodes" for ms in sorted(found))
    return (
        f"a heartbeat comes every {told} (Hadoop's rule): what differs may come of that, and not of"
        f" the nodes. --set cluster.heartbeat.interval_ms={first_ms} holds it fixed"
    )
