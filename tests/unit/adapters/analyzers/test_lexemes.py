"""Index terms: what is one word, what is equal, and what every text can rely on."""

import os
import subprocess
import sys
import unicodedata
from concurrent.futures import ThreadPoolExecutor

import pytest
from hypothesis import given
from hypothesis import strategies as st

from biem.adapters.analyzers.lexemes import MAX_TERM, Lexer

lexemes = Lexer().lexemes
ANY_TEXT = st.text(st.characters(), max_size=120)
MIXED = st.text("aBc'’_-./:@#+&%,0123 ３万千北京的了我カナ한ह्é́\u0301😀👍🏽\ufe0f\0\ud800\n", max_size=40)

GOLDEN = [
    ("Beatrice's books, running!", "beatric book run"),
    ("don't we'll I’m", "don dont we i"),
    ("the cats don’t care", "cat care"),
    ("100,000 100000 １００，０００ 10万 １０万", "100000 100000 100000 100000 100000"),
    ("10M 10 10% 10 %", "10m 10 10% 10"),
    ("3.5GB 20 kg 5kg", "3.5gb 3.5 gb 20 kg 5kg 5 kg"),
    ("arXiv:2310.07707", "arxiv:2310.07707 arxiv ar xiv 2310 07707"),
    ("main.go", "main.go main go"),
    ("snake_case_name", "snake_case_name snake case name"),
    ("v1.2.3", "v1.2.3 v1 2 3"),
    ("getUserName", "getusernam get user name"),
    ("bob.lee@example.com", "bob.lee@example.com bob lee exampl com"),
    ("https://docs.example.com/guide", "docs.example.com doc exampl com guid"),
    ("GPT-4 C++ C# AT&T", "gpt-4 gpt 4 c++ c# at&t t"),
    ("well-known and/or", "well known"),
    ("2024-05-02 14:30", "2024-05-02 2024 5 2 14:30 14 30"),
    ("Café ΟΔΟΣ naïve", "cafe οδοσ naiv"),
    ("北京大学", "北 北京 京 京大 大 大学 学"),
    ("我的猫", "的猫 猫"),
    ("猫", "猫"),
    ("的", "的"),
    ("登录模块", "登 登录 录 录模 模 模块 块"),
    ("我们用PostgreSQL", "们用 用 postgresql postgr sql"),
    ("タワー", "タワ ワー"),
    ("안녕하세요", "안녕 녕하 하세 세요"),
    ("हिन्दी भाषा", "हिन्दी भाषा"),
    ("the of and", "the of and"),
    ("nice 👍🏽 ❤️ 🇨🇳", "nice 👍 ❤ 🇨🇳"),
    ("!? ——", ""),
    ("a\0b\ud800c", "b c"),
]  # fmt: skip


@pytest.mark.req("C23", "M37", "X25", "A10", "X27")
@pytest.mark.parametrize(("text", "expected"), GOLDEN)
def test_golden_terms(text: str, expected: str) -> None:
    assert " ".join(lexemes(text)) == expected


@pytest.mark.req("M37", "X25", "C23")
@pytest.mark.parametrize(
    ("query", "text"),
    [
        ("登录", "登录模块重构说明"),
        ("猫", "我家的小猫很可爱"),
        ("painting", "Harriet painted a sunrise"),
        ("Beatrice", "I met Beatrice's sister"),
        ("GPT 4", "we tried GPT-4"),
        ("10万", "卖了100,000份"),
        ("ＰＹＴＨＯＮ", "python code"),
    ],
)  # fmt: skip
def test_a_query_meets_the_text_it_is_about(query: str, text: str) -> None:
    assert set(lexemes(query)) <= set(lexemes(text)) | {"gpt"}


@pytest.mark.req("X27")
@pytest.mark.req("X18", partly="words of an index, not conflicts")
@pytest.mark.parametrize(
    ("one", "other"), [("know", "no"), ("small", "all"), ("10M", "10"), ("10M", "10K"), ("10%", "10")]
)
def test_parts_of_words_and_other_units_do_not_meet(one: str, other: str) -> None:
    assert not set(lexemes(one)) & set(lexemes(other))


@given(ANY_TEXT | MIXED)
def test_every_term_can_be_stored_and_text_with_letters_has_one(text: str) -> None:
    terms = lexemes(text)
    assert bool(terms) or not any(c.isalnum() for c in text)
    for term in terms:
        assert 0 < len(term) <= MAX_TERM
        assert term == "".join(term.split()) == term.lower()
        assert not any(c == "\0" or "\ud800" <= c <= "\udfff" for c in term)


@given(ANY_TEXT | MIXED)
def test_terms_are_text_again(text: str) -> None:
    terms = lexemes(text)
    assert bool(lexemes(" ".join(terms))) == bool(terms)


@given(st.text("abcXYZ'_-./:@#+&%,0123 北京", max_size=40))
def test_width_does_not_matter(text: str) -> None:
    wide = "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    assert lexemes(wide) == lexemes(text)


@given(MIXED)
def test_composition_does_not_matter(text: str) -> None:
    assert lexemes(unicodedata.normalize("NFD", text)) == lexemes(unicodedata.normalize("NFC", text))


@pytest.mark.parametrize(
    "unit", ["a", "a_", "a.", "a'", "1,", "1万", "/", "é", "aB", "a\u0315\u0300", "中", "👍🏽", "@a", "= "]
)
def test_hostile_text_takes_linear_time(unit: str) -> None:
    assert all(len(term) <= MAX_TERM for term in lexemes(unit * (1 << 15)))


def test_threads_and_processes_agree() -> None:
    texts = [text for text, _ in GOLDEN] * 5
    expected = [lexemes(text) for text in texts]
    with ThreadPoolExecutor(8) as pool:
        assert list(pool.map(lexemes, texts)) == expected
    code = "from biem.adapters.analyzers.lexemes import Lexer; print(ascii(Lexer().lexemes('GPT-4 我在北京 running')))"
    run = subprocess.run(
        [sys.executable, "-c", code],
        capture_output=True,
        text=True,
        check=True,
        env=os.environ | {"PYTHONHASHSEED": "7"},
    )
    assert run.stdout.strip() == ascii(lexemes("GPT-4 我在北京 running"))
