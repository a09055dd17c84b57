"""What a package might offer."""

from callboard.scheduler.orders.fifo import Fifo


class Offered(Fifo):
    """FIFO by another name."""

    name = "offered"
    summary = "offered by a package"
