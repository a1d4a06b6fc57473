"""Named SQL: what the service sends is what the files say."""

import re

from biem.adapters.postgres.sql import numbered, queries


def test_every_name_in_a_statement_has_one_number_wherever_it_stands() -> None:
    for name, text in queries().items():
        translated, names = numbered(name)
        assert list(names) == list(dict.fromkeys(re.findall(r"%\((\w+)\)s", text)))
        # Put back in place of the numbers, the names give the same statement
        back = translated.decode()
        for number in range(len(names), 0, -1):
            back = back.replace(f"${number}", f"%({names[number - 1]})s")
        assert back == text.replace("%%", "%")


def test_a_doubled_percent_sign_is_one() -> None:
    doubled = [name for name, text in queries().items() if "%%" in text and "%(" in text]
    assert doubled
    assert not any(b"%" * 2 in numbered(name)[0] for name in doubled)
