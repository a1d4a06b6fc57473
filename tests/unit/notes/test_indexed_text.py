"""What is embedded of a chunk."""

import pytest

from biem.notes.indexed_text import indexed_text


@pytest.mark.req("G36", partly="a body has no tag text")
def test_headings_stand_above_the_body() -> None:
    assert indexed_text(["Tea", "Green"], "It is hot.") == "Tea › Green\nIt is hot."
    assert indexed_text([], "It is hot.") == "It is hot."
    assert indexed_text(["Tea"], "") == "Tea"


def test_an_h3_that_begins_the_body_stands_there_once() -> None:
    assert indexed_text(["Tea", "Green", "Sencha"], "### Sencha\n\nx") == "Tea › Green\n### Sencha\n\nx"
    assert indexed_text(["Tea", "Green", "Sencha"], "x") == "Tea › Green › Sencha\nx"


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        ("a ![a cup](data:image/png;base64,AAAA==) b", "a a cup b"),
        ("![a cup](x_(1).png 'title')", "a cup"),
        ("![a cup][ref]", "a cup"),
        ("![[cup.png|200]] b ![[Note]]", " b ![[Note]]"),
        ("a<!-- no - word -->b", "ab"),
        ("a <!-- open", "a <!-- open"),
        ("- tea\n  id:: 65f6a2c1-1b1e-4f0e-9b1d-0c7a3f7e0001\n  collapsed:: true\n- cup", "- tea\n\n\n- cup"),
        ("see ((65f6a2c1-1b1e-4f0e-9b1d-0c7a3f7e0001)) ^the-point\nx ^2", "see \nx ^2"),
        ('<span style="color: red">Full&nbsp;disk</span><br/>5 &lt; 6 &amp; a < b', " Full\xa0disk  5 < 6 & a < b"),
        (
            "use `<br/>` and `&amp;` in <Transition> List<String> <https://a.b> &copy=1",
            "use `<br/>` and `&amp;` in <Transition> List<String> <https://a.b> &copy=1",
        ),
        ('<img src="x.png" alt="a map"> <img src="y.png">', "a map  "),
        ("```html\n<td>x</td>\n```", "```html\n<td>x</td>\n```"),
        ("a\n" + "QUJD" * 40 + "==\nb " + "x" * 119, "a\n\nb " + "x" * 119),
        ("```json\n" + "aB3+/" * 30 + "\n```", "```json\n\n```"),
        ("https://example.org/" + "path-" * 40, "https://example.org/" + "path-" * 40),
        ("see data:image/png;base64,AAAA+/= there", "see  there"),
        ("```\n<!-- code -->\n```\n<!-- no -->\nb", "```\n<!-- code -->\n```\n\nb"),
        ("~~~\n![x](y)\n```\n~~~\n![x](y)", "~~~\n![x](y)\n```\n~~~\nx"),
    ],
)
def test_images_and_comments_are_not_embedded_and_code_is(body: str, shown: str) -> None:
    assert indexed_text([], body) == shown
