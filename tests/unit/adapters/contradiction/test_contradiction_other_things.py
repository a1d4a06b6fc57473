"""A value of a thing that the older message does not name, or of one day, retires nothing; its own new value does."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from benchmarks.lives.decided import by_rules
from benchmarks.lives.told import told
from biem.adapters import contradiction
from biem.config import load_settings
from biem.domain.conflict import Statement, Verdict
from biem.domain.policies.conflicts import ConflictPolicy

RULES = contradiction.build()
POLICY = ConflictPolicy()
SAID = datetime(2026, 5, 6, tzinfo=UTC)
FILES = Path(__file__).parents[4] / "benchmarks" / "lives" / "told" / "other_things"


def verdict(older: str, newer: str) -> Verdict | None:
    before, after = Statement(older, at=SAID), Statement(newer, at=SAID + timedelta(days=9))
    return RULES.compare(before, after, None, least=POLICY.record_confidence)


def retires(found: Verdict | None) -> bool:
    return found is not None and found.aligned and found.confidence >= POLICY.act_confidence


@pytest.mark.req("C31", partly="nothing is retired by a value of another thing")
@pytest.mark.parametrize(
    ("older", "newer"),
    [
        # which thing it belongs to, before its name or after it
        ("My rent is 800", "The rent of the car went up to 900"),
        ("Insurance is 40 a month", "Car insurance went up to 60 a month"),
        ("I pay 30 for insurance", "The car's insurance went up to 50"),
        ("The wifi password is heron12", "The wifi password at school was changed to bittern34"),
        ("My code is 4471", "The school code was changed to 9026"),
        ("The fee is 25 a month", "The late fee went up to 35 a month"),
        ("Car insurance is 40 a month", "Home insurance went up to 60 a month"),
        ("My route is 5 km", "My running route went up to 8 km"),
        ("车位每月300", "公司车位涨到400了"),
        ("门禁密码是1234", "公司门禁密码改成5678了"),
        ("门是绿色的", "车库的门刷成蓝色了"),
        ("食堂十一点开", "学校食堂改成十二点开了"),
        ("My rent is 800", "车库的房租涨到900了"),
        ("房租每月2500", "The rent of the car went up to 2,900"),
        # one language tells the side of the family
        ("My grandmother lives in Leeds", "我外婆搬到波尔图了"),
        ("我奶奶开一辆五菱。", "My grandmother's new car is a Skoda."),
    ],
)
def test_a_value_of_a_thing_that_the_older_does_not_name_is_recorded_and_retires_nothing(
    older: str, newer: str
) -> None:
    found = verdict(older, newer)
    assert found is not None
    assert not retires(found)
    assert not RULES.rivals(Statement(older), Statement(newer))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("My shift starts at 8", "Today my shift starts at 10"),
        ("My class starts at 6", "My class starts at 7 this Thursday"),
        ("Yoga is in room 3", "Yoga was moved to room 5 tonight"),
        ("The clinic opens at 8", "On Christmas Eve the clinic opens at 10 now"),
        ("班车七点四十开", "明天班车改到八点"),
        ("诊所八点开门", "除夕诊所改到十点开门"),
        ("诊所八点开门", "国庆那天诊所改成十点开门"),
    ],
)
def test_a_time_of_one_day_retires_nothing(older: str, newer: str) -> None:
    assert not retires(verdict(older, newer))


@pytest.mark.parametrize(
    ("older", "newer"),
    [
        ("The rent is 800", "The rent went up to 900"),
        ("My rent is 800 a month", "The rent of my flat went up to 900 a month"),
        ("Car insurance is 40 a month", "It's the car insurance that went up: 60 now"),
        ("The insurance of the car is 40 a month", "Car insurance went up to 60 a month"),
        ("My salary is 2,900", "My salary at work went up to 3,300"),
        ("The house alarm code is 4471", "The alarm code of the house was changed to 9026"),
        ("公司车位每月300", "公司车位涨到400了"),
        ("我工资8000", "公司把我的工资涨到9500了"),
        ("房租2500", "家里房租涨到2900了"),
        ("车险每月40", "涨价的是车险，现在60了"),
        # it was done on a day, and lasts
        ("My rent is 800", "Today my rent went up to 900"),
        ("The meeting is at 10", "The meeting was moved to tomorrow at 11"),
        ("My appointment is at 10", "My appointment was moved to 11 today"),
        ("我八点上班", "今天开始我十点上班"),
        ("门禁密码是1234", "今天门禁密码改成5678了"),
    ],
)
def test_a_new_value_of_the_same_thing_takes_effect(older: str, newer: str) -> None:
    assert retires(verdict(older, newer))


def test_pairs_about_other_things_written_by_hand_retire_nothing_and_their_updates_take_effect() -> None:
    found = by_rules(told(sorted(FILES.glob("dev_*.txt"))), None, load_settings())
    innocent = [one for one in found if one.pair.label == "innocent"]
    assert len(innocent) == 81
    assert not [one.pair for one in innocent if one.retired]
    updates = [one.retired for one in found if one.pair.label == "update"]
    assert sum(updates) >= 0.85 * len(updates)
