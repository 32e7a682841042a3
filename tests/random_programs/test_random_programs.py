"""Programs of fixed seeds in all modes; the oracle sees a wrong rule, and the reducer shows it."""

import os
import time
from pathlib import Path

import numpy as np
import pytest

from random_programs import oracle, paths, reduce
from random_programs.program import TimeIsUp, limited
from random_programs.run import report, run_seeds, summary
from random_programs.statements import generate
from s2s_ad.core.registry import rule_for
from s2s_ad.native.support import SUPPORT

SEEDS = (301, 302, 306, 309, 313, 316, 320)
NATIVE_SEEDS = (301, 309, 316)
SHARDS = 20
PROGRAMS = int(os.environ.get("RANDOM_PROGRAMS", "400"))
STATE = os.environ.get("RANDOM_PROGRAMS_STATE")  # a folder, to go on after an interruption
MOST_REFUSED = 0.03  # of the programs of a shard
MOST_FAILED = 0.008  # of many; of a shard of twenty none
BY_CHANCE = 4  # so many more may be in a shard of twenty


@pytest.fixture
def natively(monkeypatch):
    pytest.importorskip("numba")
    monkeypatch.setenv("S2S_AD_NATIVE", "1")


@pytest.mark.thinned(4)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_random_program(seed):
    (record,) = run_seeds([seed])
    assert not record.failed, report(record, 0.0)
    assert sum(each.status == "ok" for each in record.outcomes) > 5, summary([record])


@pytest.mark.slow
@pytest.mark.parametrize("shard", range(SHARDS))
def test_random_programs(shard):
    state = Path(STATE, f"shard_{shard}.jsonl") if STATE else None
    records = list(run_seeds(range(10_000 + shard, 10_000 + PROGRAMS, SHARDS), state))
    failed = [report(record, 20.0) for record in records if record.failed]
    text = "\n".join([*failed, summary(records)])
    print(text)
    assert len(failed) <= MOST_FAILED * len(records), text
    refused = sum(bool(record.refused) for record in records)
    assert refused <= MOST_REFUSED * len(records) + BY_CHANCE, summary(records)


@pytest.mark.slow
@pytest.mark.parametrize("seed", NATIVE_SEEDS)
def test_natively_with_each_index_checked(seed, natively):
    (record,) = run_seeds([seed], modes=oracle.NATIVE_MODES)
    assert not record.failed, report(record, 0.0)
    assert sum(each.status == "ok" for each in record.outcomes) > 3, summary([record])


PICKED = """
import numpy as np

def main(x, k):
    return x[k] * 2.0
"""


def test_an_index_out_of_bounds_is_seen(natively, monkeypatch):
    beyond = SUPPORT["within"].replace("return index", "return index + 1")
    monkeypatch.setitem(SUPPORT, "within", beyond)
    (outcome,), _ = oracle.check(PICKED, ["np.ones(3)", "2"], 0, ("native value",))
    assert (outcome.status, outcome.sort) == ("failed", "wrong memory")


def test_a_seed_makes_one_program():
    first, second = generate(7), generate(7)
    assert (first.source, first.arguments) == (second.source, second.arguments)
    assert len({generate(seed).source for seed in range(4)}) == 4


NOISE = """
import numpy as np

def main(x, k):
    total = 0.0
    for i in range(3):
        if i > k:
            total += i * k
        else:
            total += np.sum(x[1:]) * 0.5
    y = np.tanh(x * 0.5) + k
    y[0] = total
    return np.sum(y) + total
"""


@pytest.fixture
def wrong_tanh(monkeypatch):
    rule = rule_for(np.tanh)
    monkeypatch.setattr(rule, "adjoints", ("y_bar * (1 - y)",))


def test_a_wrong_rule_is_seen_and_shown(wrong_tanh):
    arguments = ["np.array([0.3, -0.7, 0.4])", "1"]
    outcomes, _ = oracle.check(NOISE, arguments, 0, ("value", "grad"))
    assert [(each.mode, each.status) for each in outcomes] == [("value", "ok"), ("grad", "failed")]
    assert outcomes[1].sort == "wrong numbers"
    text, arguments = reduce.reduced(NOISE, arguments, 0, outcomes[1], 20.0)
    assert "tanh" in text
    assert len(text.strip().splitlines()) <= 5
    assert len(arguments) == 1


@pytest.mark.parametrize(
    "source, argument, sort",
    [
        ("def main(x):\n    return abs(x)\n", "0.0", "kink"),
        ("def main(x):\n    return 1.0 if x > 0.5 else x\n", "0.5", "kink"),
        ("def main(x):\n    return 3\n", "0.5", "nothing to differentiate"),
        (
            "import numpy as np\ndef main(x):\n    y = np.ones(3)\n    y[y > x] = np.sqrt(-x)\n"
            "    return y[0]\n",
            "1.5",
            "root of zero",
        ),
    ],
)
def test_where_differences_say_nothing(source, argument, sort):
    (outcome,), _ = oracle.check(source, [argument], 0, ("grad",))
    assert (outcome.status, outcome.sort) == ("skipped", sort)


def test_an_exception_of_python_is_expected():
    source = "def main(x):\n    if x > 0:\n        raise KeyError('no')\n    return x\n"
    outcomes, _ = oracle.check(source, ["0.5"], 0, ("value", "grad", "jvp"))
    assert [each.status for each in outcomes] == ["ok", "ok", "skipped"]


NARROWED = """
import numpy as np

def main(x, k):
    y = x * 2.0
    try:
        for i in range(k):
            y = np.float32(y)
    except ValueError:
        y = 1j * y
    return y
"""


MATCHED = """
import numpy as np

def main(x, k):
    match k:
        case 1 | 2:
            return np.float32(x)
        case other if other:
            return np.array([x])
"""


def test_dtypes_of_other_cases():
    (found,) = paths.dtypes(MATCHED, lambda: [[1.5, 3]])
    assert found == {np.dtype(np.float32), np.dtype(float)}


def test_dtypes_of_other_elements():
    source = "import numpy as np\ndef main(x, k):\n    x[k] = 0.5\n    return x[0], x[1]\n"
    first, second = paths.dtypes(source, lambda: [[[1j, 2j], 1]])
    assert (first, second) == ({np.dtype(complex)}, {np.dtype(float), np.dtype(complex)})


def test_dtypes_of_what_is_least():
    source = "import numpy as np\ndef main(x, y):\n    return min(x, y), max([x, y])\n"
    least, largest = paths.dtypes(source, lambda: [[np.float32(1.5), np.float64(0.5)]])
    assert least == largest == {np.dtype(np.float32), np.dtype(float)}


def test_dtypes_of_longer_arrays():
    main = (
        "def main(x):\n    try:\n        return x[0]\n    except IndexError:\n        return 1.5\n"
    )
    source = "import numpy as np\n" + main
    (found,) = paths.dtypes(source, lambda: [[np.zeros(0, dtype=complex)]])
    assert found == {np.dtype(complex), np.dtype(float)}


def test_dtypes_of_other_paths():
    """Those of the program as it runs are not looked for: who asks knows them."""
    (found,) = paths.dtypes(NARROWED, lambda: [[np.float64(1.5), 2]])
    assert found == {np.dtype(np.float32), np.dtype(float), np.dtype(complex)}
    single, double, whole = map(np.dtype, (np.float32, float, int))
    assert paths.may_have(double, {single, whole})  # an array of both
    assert not paths.may_have(double, {single})


@pytest.mark.parametrize(
    "text, sort",
    [
        ("np.std(np.array([x, x])) + x", "root of zero"),
        ("np.linalg.norm(np.array([x, x]) - x)", "root of zero"),
        ("math.sqrt(x - x) * 2.0", ""),  # 0, however x moves
        ("(x - x) ** 0.5 * x", ""),
        ("math.sqrt(x) - math.sqrt(x)", ""),
        ("(x - x) ** 1.5 + x", ""),
    ],
)
def test_a_root_of_zero_has_no_slope(text, sort):
    source = f"import math\nimport numpy as np\n\ndef main(x):\n    return {text}\n"
    outcomes, _ = oracle.check(source, ["0.75"], 0, ("jvp", "standalone"))
    assert {each.sort for each in outcomes} | {""} == {sort, ""}


TO_BE_REFUSED = {
    "    items.append(x)\n    return items[0] * x": "skipped",
    "    if x > 5:\n        items.insert(0, x)\n    return items[0] * x": "skipped",
    "    del items[0]\n    items += [x]\n    return items[0] * x": "skipped",
    "    items.pop()\n    return items[0] * x": "ok",
    "    if x > 5:\n        return x\n    return [x, items[0]]": "skipped",
    "    if 1 > 5:\n        return x\n    return [x, items[0]]": "ok",
    "    items = x if x > 5 else items\n    return items[0] * x": "refused",
}


@pytest.mark.parametrize("body, status", TO_BE_REFUSED.items())
def test_what_is_refused_on_purpose(body, status):
    """It adds to a list it is given, or returns another container on another path."""
    source = f"def main(items, x):\n{body}\n"
    outcomes, _ = oracle.check(source, ["[0.5, 1.5]", "0.75"], 0, ("value", "grad"))
    assert {each.status for each in outcomes} == {status}


@pytest.mark.parametrize("mask, status", [("x > 0.0", "skipped"), ("x < 9.0", "refused")])
def test_shapes_that_depend_on_numbers_are_refused_in_batches(mask, status):
    source = f"import numpy as np\n\ndef main(x):\n    return x[{mask}]\n"
    (outcome,), _ = oracle.check(source, ["np.array([1.5, 2.5])"], 0, ("vmap",))
    assert outcome.status == status


def too_long():
    with limited(10):
        pass
    time.sleep(5)


def test_a_limit_within_a_limit():
    with pytest.raises(TimeIsUp), limited(0.3):
        too_long()
