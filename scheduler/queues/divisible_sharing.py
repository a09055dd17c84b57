"""Two ways to share several resources beside DRF, for tasks that can be divided.

Asset fairness gives everybody the same of all resources together; CEEI, competitive equilibrium
from equal incomes, lets everybody buy at prices at which all is sold, which is where the product of
the numbers of tasks is largest (Ghodsi and others, NSDI 2011, section 5).
"""

from collections.abc import Sequence
from fractions import Fraction

import numpy as np

from callboard.scheduler.resources import Vector

PRICE_ROUNDS = 100_000
CLOSE = 1e-13
"""How little prices change in the last round."""


def asset_fair_tasks(total: Vector, demands: Sequence[Vector]) -> list[Fraction]:
    """How many tasks each has when the first resource is used up; exact.  No total is 0."""
    prices = [Fraction(1, whole) for whole in total]
    costs = [
        sum((price * part for price, part in zip(prices, demand, strict=True)), Fraction())
        for demand in demands
    ]
    used = [
        sum((demand[n] / cost for demand, cost in zip(demands, costs, strict=True)), Fraction())
        for n in range(len(total))
    ]
    income = min(Fraction(whole) / part for whole, part in zip(total, used, strict=True) if part)
    return [income / cost for cost in costs]


def ceei_tasks(total: Vector, demands: Sequence[Vector]) -> list[float]:
    """How many tasks each buys, to some ten digits.

    Prices go up or down by how much of a resource is wanted at them: the logarithm of the product
    of what tasks cost grows each time, until it is largest.
    """
    needs, there = np.array(demands, dtype=float), np.array(total, dtype=float)
    prices = len(demands) / len(total) / there
    for _ in range(PRICE_ROUNDS):
        wanted = (needs / (needs @ prices)[:, None]).sum(axis=0)
        new = prices * wanted / there
        change = np.abs(new - prices).max() / prices.max()
        prices = new
        if change < CLOSE:
            break
    return [float(each) for each in 1 / (needs @ prices)]
