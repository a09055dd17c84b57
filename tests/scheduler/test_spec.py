"""Spelling policies: composition, round trips, and errors that people can act on."""

import re
import string
from typing import Annotated

import msgspec
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from callboard.scheduler.model import KINDS
from callboard.scheduler.policy import (
    LocalityRule,
    MisfitError,
    Order,
    Part,
    Policy,
    PolicySpecError,
    PreemptionRule,
    SpeculationRule,
)
from callboard.scheduler.registry.parts import (
    PART_BASES,
    SHIPPED,
    Catalogue,
    make_policy,
    parse_policy,
    part_kind,
    spell_policy,
    spelling_of_table,
)
from callboard.scheduler.registry.shipped import PARTS
from callboard.scheduler.registry.spelling import SpelledPart, split_spelling
from tests.support.view import FakeCluster, FakeJob, FakeNode, heartbeat, informed

Params = msgspec.Struct


class OddParams(Params, frozen=True, forbid_unknown_fields=True):
    """One parameter of every sort."""

    count: Annotated[int, msgspec.Meta(ge=0)] = 3
    wait: float = 1.5
    on: bool = True
    words: str = "a"
    many: tuple[str, ...] = ()
    pools: dict[str, float] = msgspec.field(default_factory=dict)
    maybe: float | None = None


def part(base: type[Part], name: str, params: type[Params] | None = None) -> type[Part]:
    """A class of a part that is never made."""
    body: dict[str, object] = {"name": name, "summary": "for tests"}
    return type(name, (base,), body if params is None else {**body, "Params": params})


CATALOGUE = Catalogue(
    {
        "fsp": part(Order, "fsp"),
        "fsp+ps": part(Order, "fsp+ps", OddParams),
        "ps": part(Order, "ps"),
        "near": part(LocalityRule, "near", OddParams),
        "kill": part(PreemptionRule, "kill"),
        "late": part(SpeculationRule, "late"),
    }
)


@pytest.mark.parametrize(
    ("text", "means", "canonical"),
    [
        ("ps+near", OddParams(wait=4, on=False), "ps+near"),
        ("ps+near(count=7)", OddParams(count=7, wait=4, on=False), "ps+near(count=7)"),
        ("ps+near(wait=4)", OddParams(wait=4, on=False), "ps+near"),
        ("ps+near(wait=1.5)", OddParams(wait=1.5, on=False), "ps+near(wait=1.5)"),
    ],
)
def test_settings_stand_in_for_defaults(text: str, means: OddParams, canonical: str) -> None:
    """Parameter by parameter, and a spelling keeps what differs from them."""
    catalogue = CATALOGUE.with_settings({"near": {"wait": 4, "on": False}, "kill": {}})
    spec = parse_policy(text, catalogue)
    assert spec["locality"].params == means
    assert spell_policy(spec) == canonical
    assert parse_policy(canonical, catalogue) == spec


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"neer": {}}, "did you mean `near`?"),
        ({"near": {"cont": 1}}, "did you mean `count`?"),
        ({"near": {"count": "x"}}, "expected a whole number"),
    ],
)
def test_settings_that_could_never_be_used_are_refused(
    settings: dict[str, dict[str, object]], said: str
) -> None:
    with pytest.raises(PolicySpecError, match=re.escape(said)):
        CATALOGUE.with_settings(settings)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("fsp", "fsp"),
        ("fsp+ps", "fsp+ps"),
        ("fsp+ps(wait=2)+kill", "fsp+ps(wait=2)+kill"),
        ("fsp+late+kill+near", "fsp+near+kill+late"),
        (" ps + near ( wait = 1.5, count = 4 ) ", "ps+near(count=4)"),
        ("fsp+ps\n\t+ kill", "fsp+ps+kill"),
        ("ps+near()", "ps+near"),
        ('ps+near(words="(+) \\"x\\" ]")+kill', 'ps+near(words="(+) \\"x\\" ]")+kill'),
        ("ps+near(words='x', on=false)", 'ps+near(on=false,words="x")'),
        ("ps+near(words=x, on=False)", 'ps+near(on=false,words="x")'),
        ("ps+near(on=FALSE, words=per-job)", 'ps+near(on=false,words="per-job")'),
        ("ps+near(many=['a','b'])", 'ps+near(many=["a", "b"])'),
        ("ps+near(pools={a=1, 'b c'=0.5})", 'ps+near(pools={a = 1, "b c" = 0.5})'),
        ("ps+near(maybe=7)", "ps+near(maybe=7)"),
        ("ps+near(wait=17%, maybe=2.5%)", "ps+near(wait=0.17,maybe=0.025)"),
        ("ps+near(wait=100%, words='5% of 1%')", 'ps+near(wait=1,words="5% of 1%")'),
    ],
)
def test_canonical_spellings(text: str, canonical: str) -> None:
    """`fsp+ps` is one name, the longest that is known; defaults, blanks and new lines are left out,
    and a word needs no quotes.
    """
    assert spell_policy(parse_policy(text, CATALOGUE)) == canonical
    assert spell_policy(parse_policy(canonical, CATALOGUE)) == canonical


odd_params = st.builds(
    OddParams,
    count=st.integers(0, 2**60),
    wait=st.floats(allow_nan=False, allow_infinity=False),
    on=st.booleans(),
    words=st.text(max_size=8),
    many=st.lists(st.text(max_size=4), max_size=3).map(tuple),
    pools=st.dictionaries(st.text(max_size=4), st.floats(0, 9), max_size=3),
    maybe=st.none() | st.floats(0, 1e9),
)


@given(params=odd_params)
@settings(derandomize=True, max_examples=300)
def test_parse_spell_parse_is_the_same(params: OddParams) -> None:
    """Any parameters, with any text in them, come back out of their spelling."""
    wanted = dict(parse_policy("fsp+ps+near", CATALOGUE))
    wanted["locality"] = wanted["locality"]._replace(params=params)
    text = spell_policy(wanted)
    again = parse_policy(text, CATALOGUE)
    assert again == wanted
    assert spell_policy(again) == text


@given(text=st.text(alphabet=string.ascii_lowercase[:4] + "+()=\"'{}[]\\ .,1", max_size=20))
@settings(derandomize=True, max_examples=500)
def test_any_text_is_a_policy_or_a_policy_spec_error(text: str) -> None:
    try:
        make_policy(text)
    except PolicySpecError as error:
        assert str(error)  # noqa: PT017


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("fiar", "unknown policy `fiar`; did you mean `fair`?"),
        ("fair+dealy", "unknown policy part `dealy`; did you mean `delay`?"),
        ("", "at least an order"),
        ("delay", "`delay` is a locality part; an order goes first"),
        ("fair+fifo", "`fair` and `fifo` are both order parts"),
        ("fair+delay+anywhere", "`delay` and `anywhere` are both locality parts"),
        ("fair+", "expected a part's name after"),
        ("+fair", "expected a part's name before"),
        ("fair delay", "expected `+` before `delay`"),
        ("fair+delay(node=5", "the bracket after `fair+delay` is never closed"),
        ("fair+delay(nod=5)", "`delay` has no parameter `nod`; did you mean `node`?"),
        ("fair+delay(zzz=5)", "there are: node, rack, skips"),
        ("fair(x=1)", "`fair` has no parameter `x`"),
        ("fair+delay(node='5')", 'parameter `node`: expected a number, got "5"'),
        ("fair+delay(node=-1)", "parameter `node`: expected a number of at least 0, got -1"),
        ("fair+delay(node=nan)", "parameter `node`: expected a finite number"),
        ("fair+delay(node=inf)", "parameter `node`: expected a number of at most"),
        ("fair+kill(fair_share_timeout_s=nan)", "expected a finite number, got nan"),
        ("fair+delay(skips=2.5)", "parameter `skips`: expected a whole number, got 2.5"),
        ("fair+delay(node)", 'written like `delay(name=1, other="text")`'),
        ("fair+delay(node={1,5})", "alternatives in braces are for `callboard sweep`"),
        ("fair+delay(node=1,node=2)", "duplicate"),
        ("fair+delay(node=5}\nx={a=1)", "delay"),
        ("./mine.py:Mine", "unknown policy `./mine.py:Mine`"),
    ],
)
def test_a_refusal_names_the_part_the_parameter_and_the_remedy(text: str, said: str) -> None:
    with pytest.raises(PolicySpecError) as found:
        make_policy(text)
    assert said in str(found.value)


@pytest.mark.parametrize(
    "text",
    [
        "fair(pools={a = {min_share_timeout_s = inf}})+kill(fair_share_timeout_s=inf)",
        "fair+suspend(min_share_timeout_s=inf)+late(lag_s=inf)",
        "fifo+global(fair_share_timeout_s=inf,long_s=inf)",
    ],
)
def test_a_time_that_infinity_turns_off_takes_it(text: str) -> None:
    """“`inf` turns it off”, the parts' reference says; so does Hadoop's own default."""
    assert spell_policy(parse_policy(text)) == text


def test_a_combination_that_makes_no_sense_is_refused_with_its_reason() -> None:
    with pytest.raises(PolicySpecError, match=r"`delay`: .* a job cannot wait by both"):
        make_policy("fair+delay(node=5,skips=3)")


def test_a_file_may_hold_a_plus_and_parameters_follow_it() -> None:
    assert split_spelling("./a+b.py:Mine(x=1)+kill", ["kill"]) == [
        SpelledPart("./a+b.py:Mine", "x=1"),
        SpelledPart("kill"),
    ]
    assert split_spelling("fair+/x/b.py:Mine", ["fair"]) == [
        SpelledPart("fair"),
        SpelledPart("/x/b.py:Mine"),
    ]


@pytest.mark.parametrize(
    ("table", "text"),
    [
        ({"order": "fair", "locality": "delay(node=5)"}, "fair+delay(node=5)"),
        ({"order": {"name": "hfsp", "t": 5}, "preemption": "kill"}, "hfsp(t=5)+kill"),
        ({"speculation": "late", "order": "fsp+ps"}, "fsp+ps+late"),
        ({"order": "./m.py:Mine"}, "./m.py:Mine"),
    ],
)
def test_a_table_is_the_same_as_its_spelling(table: dict[str, object], text: str) -> None:
    assert spelling_of_table(table) == text


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({"locality": "delay"}, "needs an `order`"),
        ({"order": "fair", "localty": "delay"}, "did you mean `locality`?"),
        ({"order": "fair", "locality": "wait"}, "`locality`: `wait` is a preemption part"),
        ({"order": "fair+delay"}, "names 2 parts"),
        ({"order": {"nam": "fair"}}, "a table with its `name`"),
        ({"order": 3}, "expected a part's name"),
        ({"order": {"name": "fair(x=1)"}}, "bare name"),
    ],
)
def test_a_wrong_table_is_refused(table: dict[str, object], said: str) -> None:
    with pytest.raises(PolicySpecError) as found:
        spelling_of_table(table)
    assert said in str(found.value)


def test_every_shipped_part_is_of_one_kind_and_can_be_made_alone() -> None:
    for name, each in PARTS.items():
        assert name == each.name
        assert sum(issubclass(each, base) for base in PART_BASES.values()) == 1
        assert isinstance(each(), each)
    assert spell_policy(parse_policy("fifo+anywhere+wait+no-copies")) == "fifo"


def names_of(slot: str) -> list[str]:
    return [name for name, each in PARTS.items() if part_kind(each) == slot]


@given(
    order=st.sampled_from(names_of("order")),
    rest=st.permutations(["locality", "preemption", "speculation"]),
    picks=st.data(),
    demands=st.lists(st.tuples(st.integers(0, 6), st.integers(0, 3)), min_size=1, max_size=5),
)
@settings(derandomize=True, max_examples=150)
def test_any_order_locality_preemption_and_speculation_compose(
    order: str, rest: list[str], picks: st.DataObject, demands: list[tuple[int, int]]
) -> None:
    """In any sequence; and `decide` asked twice gives the same answer (`heartbeat` asserts it)."""
    parts = [picks.draw(st.sampled_from(names_of(slot))) for slot in rest]
    try:
        policy = make_policy("+".join([order, *parts]))
    except PolicySpecError:  # in words, as tests/whole/test_combinations.py demands
        reject()
    jobs = [
        FakeJob(n, [maps, reduces], homes=frozenset({n % 3}), reduces=reduces)
        for n, (maps, reduces) in enumerate(demands)
    ]
    nodes = [FakeNode(n, (2, 1)) for n in range(3)]
    cluster = FakeCluster(nodes, jobs)
    informed(policy, cluster)
    for at_ms in range(0, 30_000, 3000):
        cluster.now_ms = at_ms
        for node in nodes:
            heartbeat(policy, cluster, node)
    launched = sum(node.running(kind) for node in nodes for kind in KINDS)
    assert launched == min(6, sum(m for m, _ in demands)) + min(3, sum(r for _, r in demands))


class Picky(LocalityRule):
    """Objects to whatever it is put into."""

    name = "picky"
    summary = "for tests"

    def refusal(self, *_: object) -> None:
        return None

    def bind(self, policy: Policy) -> None:
        raise MisfitError(f"`picky` does not go with {policy.order.name}")


def test_a_part_sees_the_whole_policy_before_it_objects() -> None:
    catalogue = Catalogue({**PARTS, "picky": Picky})
    with pytest.raises(PolicySpecError, match="`fair\\+picky`: `picky` does not go with fair"):
        make_policy("fair+picky", catalogue)


def test_the_shipped_catalogue_is_the_parts() -> None:
    assert SHIPPED.names() == list(PARTS)
