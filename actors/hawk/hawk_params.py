"""The pieces of Hawk and Eagle, each of which can be had or not."""

from typing import Annotated

from msgspec import Meta

from callboard.scheduler.part_params import NotNegative, PartParams

ClosedShare = Annotated[float, Meta(ge=0, lt=1)]


class HawkParams(PartParams, frozen=True):
    """Who looks for nodes, which may be found, and how nodes serve what waits there.  The defaults
    of `cutoff` and `short` are those of both papers for Google's trace.
    """

    cutoff: NotNegative = 1129.532
    """A job whose tasks take this many seconds or more by estimate, on average, is long."""
    short: ClosedShare = 0.17
    """The share of nodes that long tasks may not go to, the first ones; `17%` is `0.17`."""
    central: bool = True
    """Whether one scheduler places the tasks of all long jobs, each where the wait is least. If
    not, long jobs are probed for too, among the nodes that they may go to."""
    probes: Annotated[float, Meta(ge=1, le=1000)] = 2.0
    """How many probes a task of a short job (the probe ratio), rounded up for all of a stage."""
    minimum: Annotated[int, Meta(ge=1, le=10_000)] = 1
    """How many probes a stage has at least."""
    attempts: Annotated[int, Meta(ge=0, le=1000)] = 10
    """How many nodes, one after the other, a node asks for work that has become idle; 0 turns
    stealing off."""
    limit: Annotated[int, Meta(ge=1)] = 10_000
    """How many reservations it gets from one of them at most."""
    sharing: bool = False
    """Whether nodes with long work refuse probes and tell which nodes have some (succinct state
    sharing)."""
    sticky: bool = False
    """Whether a node asks the same job again when a task of it has ended (sticky batch
    probing)."""
    srpt: bool = False
    """Whether nodes serve the stage first that has the least left, by its estimate times its tasks
    that no node has been given."""
    cap: NotNegative = 5.0
    """With `srpt`: how many times its own estimate a task is put off by others at most."""
    cancellation: bool = False
    """Whether reservations are taken back once a stage has no task left."""
    schedulers: Annotated[int, Meta(ge=1, le=1000)] = 10
    """How many there are for short jobs, which go to them in turn."""


class EagleParams(HawkParams, frozen=True):
    """The pieces of Hawk, with those that Eagle adds turned on, and no stealing."""

    minimum: Annotated[int, Meta(ge=1, le=10_000)] = 20
    """How many probes a stage has at least."""
    attempts: Annotated[int, Meta(ge=0, le=1000)] = 0
    """How many nodes, one after the other, a node asks for work that has become idle; 0 turns
    stealing off."""
    sharing: bool = True
    """Whether nodes with long work refuse probes and tell which nodes have some (succinct state
    sharing)."""
    sticky: bool = True
    """Whether a node asks the same job again when a task of it has ended (sticky batch
    probing)."""
    srpt: bool = True
    """Whether nodes serve the stage first that has the least left, by its estimate times its tasks
    that no node has been given."""
    cancellation: bool = True
    """Whether reservations are taken back once a stage has no task left."""
