"""What a package might offer."""

from scheduler.orders.fifo import Fifo


class Offered(Fifo):
    """FIFO by another name."""

    name = "offered"
    story = "offered by a package"
