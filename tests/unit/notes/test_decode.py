"""Text from bytes: what is clear is read, what is not is skipped with the command that repairs it."""

import codecs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.domain.note import SkippedNote
from biem.notes.decode import DecodedText, decode

LIMIT = 1 << 20
CHINESE = "# 采购记录\n\n上个月我们从杭州的供应商那里买了二十箱绿茶，价格比去年便宜。\n"
TAIWANESE = "# 採購紀錄\n\n上個月我們從台南的供應商那裡買了二十箱綠茶，價格比去年便宜，品質也不錯。\n"
JAPANESE = "# 仕入れの記録\n\n先月は静岡のお店から緑茶を二十箱買いました。去年より安かったです。\n"
KOREAN = "# 구매 기록\n\n지난달에 우리는 보성의 가게에서 녹차 스무 상자를 샀습니다. 작년보다 쌌습니다.\n"
FRENCH = "# Achats d’été\n\nNous avons acheté vingt boîtes de thé à côté de l’hôtel. C’était très agréable.\n"


def skipped(data: bytes) -> SkippedNote:
    found = decode("a b.md", data, max_bytes=LIMIT)
    assert isinstance(found, SkippedNote)
    return found


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (CHINESE, "utf-8"),
        (CHINESE, "gb18030"),
        (TAIWANESE, "big5"),
        (JAPANESE, "shift_jis"),
        (KOREAN, "euc_kr"),
        (FRENCH, "cp1252"),
    ],
)
def test_each_encoding_is_recognised(text: str, encoding: str) -> None:
    assert decode("a.md", text.encode(encoding), max_bytes=LIMIT) == DecodedText(text, encoding)


@pytest.mark.parametrize(
    ("mark", "encoding"),
    [
        (codecs.BOM_UTF8, "utf-8"),
        (codecs.BOM_UTF16_LE, "utf-16-le"),
        (codecs.BOM_UTF16_BE, "utf-16-be"),
        (codecs.BOM_UTF32_LE, "utf-32-le"),
    ],
)
def test_a_mark_decides_and_is_no_part_of_the_text(mark: bytes, encoding: str) -> None:
    assert decode("a.md", mark + CHINESE.encode(encoding), max_bytes=LIMIT) == DecodedText(CHINESE, encoding)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_text_of_two_bytes_a_character_is_read_without_a_mark_where_it_is_latin(encoding: str) -> None:
    text = "# Viola\n\nFour strings, tuned a fifth below the violin – since 1550.\n"
    assert decode("a.md", text.encode(encoding), max_bytes=LIMIT) == DecodedText(text, encoding)


@pytest.mark.parametrize("data", [b"a\0b\0", b"\1\0" * 99, b"a\0\2\0" * 99, bytes(99), b"a\0\0\0" * 99])
def test_numbers_of_two_bytes_are_no_text(data: bytes) -> None:
    assert "no text" in skipped(data).reason


def test_line_breaks_become_one_kind() -> None:
    assert decode("a.md", b"a\r\nb\rc\n", max_bytes=LIMIT) == DecodedText("a\nb\nc\n", "utf-8")


def test_what_no_database_stores_becomes_a_replacement_character() -> None:
    assert decode("a.md", b"a" * 99 + b"\0", max_bytes=LIMIT) == DecodedText("a" * 99 + "\ufffd", "utf-8")
    lone = codecs.BOM_UTF16_LE + b"a\0\x00\xd8b\0"
    assert decode("a.md", lone, max_bytes=LIMIT) == DecodedText("a\ufffdb", "utf-16-le")


@pytest.mark.parametrize(
    "data", [b"na\xefve caf\xe9 \xb0\xa1\xb0", bytes(range(128, 256)) * 3, b"\xff\xfe\xfd" * 9 + b"\x80"]
)
def test_an_unsure_guess_is_skipped_with_the_command_that_converts(data: bytes) -> None:
    found = skipped(b"# text\n" + data + b"\n")
    assert found.rule == "not-utf8"
    assert "iconv -f ENCODING -t UTF-8 'a b.md' > 'a b.md'.new" in found.reason


@pytest.mark.parametrize(
    ("data", "rule", "words"),
    [
        (b"", "unreadable", "empty"),
        (b" \n\t\n", "unreadable", "empty"),
        (codecs.BOM_UTF8, "unreadable", "empty"),
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01", "unreadable", "no text"),
        (codecs.BOM_UTF16_LE + b"\x01", "unreadable", "UTF-8"),
        (codecs.BOM_UTF16_LE + b"\x00\xd8\n\x00", "unreadable", "UTF-8"),
        (b"a" * (LIMIT + 1), "too-large", "1,048,577 bytes"),
    ],
)
def test_what_is_no_text_is_skipped(data: bytes, rule: str, words: str) -> None:
    found = skipped(data)
    assert (found.path, found.rule) == ("a b.md", rule)
    assert words in found.reason


@given(st.binary(max_size=400))
def test_any_bytes_give_a_text_that_can_be_stored_or_a_reason(data: bytes) -> None:
    found = decode("a.md", data, max_bytes=LIMIT)
    if isinstance(found, DecodedText):
        assert "\0" not in found.text
        assert "\r" not in found.text
        assert found.text.encode()
    else:
        assert ":" in found.reason
