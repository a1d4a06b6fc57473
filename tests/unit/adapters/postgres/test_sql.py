"""Named SQL: what the service sends is what the files say."""

import re

from biem.adapters.postgres.sql import numbered, queries


def test_every_name_in_a_statement_has_one_number_wherever_it_stands() -> None:
    for block, text in queries().items():
        translated, names = numbered(block)
        found = re.findall(r"%\((\w+)\)s", text)
        places = [str(place) for place in range(text.replace("%%", "").count("%s"))]
        assert not (found and places)
        assert list(names) == [*dict.fromkeys(found), *places]
        # Put back in place of the numbers, the names give the same statement
        back = translated.decode()
        for number in range(len(names), 0, -1):
            name = names[number - 1]
            back = back.replace(f"${number}", "%s" if name in places else f"%({name})s")
        assert back == text.replace("%%", "%")


def test_a_doubled_percent_sign_is_one() -> None:
    doubled = [name for name, text in queries().items() if "%%" in text]
    assert doubled
    assert not any(b"%" * 2 in numbered(name)[0] for name in doubled)
