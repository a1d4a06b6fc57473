"""What tags are for: five vaults in which words and content alone find the wrong note."""

from collections.abc import Sequence
from pathlib import Path

import pytest

import biem
from biem.domain.policies.jobs import SleepPolicy
from biem.ports.notes.records import StoredPassage
from tests.support.fakes import WordEmbedder
from tests.support.servers import Configure


def synced(memory: biem.Memory, root: Path, files: dict[str, str]) -> None:
    """Write a vault and sync it."""
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text, encoding="utf-8")
    memory.notes.add(root)
    memory.notes.sync()


def best(memory: biem.Memory, query: str) -> str:
    """The path of the first hit."""
    return memory.notes.search(query)[0].note.path


@pytest.mark.req("G32", partly="homonyms")
def test_homonyms_are_distinguished_by_their_folders(memory: biem.Memory, tmp_path: Path) -> None:
    body = "# 苹果\n\n## 历史\n\n它在全世界都很有名，已经有很长的历史。{}\n"
    files = {"水果/苹果.md": body.format("秋天收获。"), "科技公司/苹果.md": body.format("总部很大。")}
    others = {
        f"城市/{name}.md": f"# {name}\n\n## 交通\n\n坐船去要两天。\n" for name in ("杭州", "宁波", "绍兴", "嘉兴")
    }
    synced(memory, tmp_path, files | others)
    assert best(memory, "科技公司苹果的历史") == "科技公司/苹果.md"
    assert best(memory, "水果苹果的历史") == "水果/苹果.md"


@pytest.mark.req("G32", partly="missing identifiers")
def test_a_section_that_does_not_name_its_subject_is_found_by_it(memory: biem.Memory, tmp_path: Path) -> None:
    skill = "\n\n## 技能\n\n施放后在十秒内提高攻击力{}。\n"
    files = {
        f"角色/{name}.md": f"# {name}{skill.format(number)}" for number, name in enumerate(("胡桃", "甘雨", "可莉"))
    }
    synced(memory, tmp_path, files)
    for name in ("胡桃", "甘雨", "可莉"):
        assert best(memory, f"{name}的技能是怎样的") == f"角色/{name}.md"


@pytest.mark.req("G32", partly="frequent words")
def test_a_word_that_is_everywhere_does_not_bury_the_one_that_matters(memory: biem.Memory, tmp_path: Path) -> None:
    files = {
        f"武器/剑/剑{number}.md": f"# 剑{number}\n\n## 故事\n\n这把武器是武器中的武器，武器之王，编号{number}。\n"
        for number in range(12)
    }
    files["武器/法器/孤灯.md"] = "# 孤灯\n\n## 故事\n\n照亮了荒原上的旅人。\n"
    synced(memory, tmp_path, files)
    assert best(memory, "武器孤灯的故事") == "武器/法器/孤灯.md"


@pytest.mark.req("G32", partly="missing references")
def test_a_text_that_uses_another_name_is_found_after_the_tag_is_renamed(memory: biem.Memory, tmp_path: Path) -> None:
    files = {
        "往事/夜.md": "# 夜\n\n## 见面\n\n那晚「胡堂主」来到店里，喝了一杯茶。\n",
        "往事/昼.md": "# 昼\n\n## 见面\n\n那天老板来到店里，喝了一杯茶。\n",
        "往事/雨.md": "# 雨\n\n## 见面\n\n那时客人来到店里，喝了一杯茶。\n",
    }
    synced(memory, tmp_path, files)
    memory.notes.rename_tag("胡堂主", "胡桃")
    assert best(memory, "胡桃来到店里喝了一杯茶") == "往事/夜.md"
    hits = memory.notes.search("胡桃", tags=["胡桃"])
    assert [hit.note.path for hit in hits] == ["往事/夜.md"]


@pytest.mark.req("G32", partly="missing references")
def test_a_renamed_name_is_found_where_a_like_text_is_nearer_to_the_question(
    memory: biem.Memory, tmp_path: Path
) -> None:
    files = {
        "case/first day.md": "# First day\n\n## Harbour\n\nThe “Commissioner” asked for the logbook of the ferry.\n",
        "case/second day.md": "# Second day\n\n## Harbour\n\nA deckhand asked for a place on the ferry.\n",
        "旅店/春.md": "# 春\n\n## 前台\n\n「掌柜」答应了退房的时间。\n",
        "旅店/秋.md": "# 秋\n\n## 前台\n\n客人答应了退房的时间。\n",
    }
    synced(memory, tmp_path, files)

    def said(query: str, path: str) -> float:
        """How much of the question's words the chunk of a note has."""
        return next(hit.why["words"] for hit in memory.notes.search(query) if hit.note.path == path)

    english, chinese = "What has Ines Duarte asked for of the ferry?", "陆明答应了退房的时间吗"
    before = said(english, "case/first day.md"), said(chinese, "旅店/春.md")
    # When two names are renamed to those that people use
    memory.notes.rename_tag("Commissioner", "Ines Duarte")
    memory.notes.rename_tag("掌柜", "陆明")
    # Then the notes count as having the new names in their texts, and questions without them stay as they were
    assert best(memory, english) == "case/first day.md"
    assert best(memory, chinese) == "旅店/春.md"
    assert said(english, "case/first day.md") > before[0]
    assert said(chinese, "旅店/春.md") > before[1]
    assert best(memory, "Which deckhand asked for a place?") == "case/second day.md"
    # Until that is taken back
    memory.notes.rename_tag("Commissioner", undo=True)
    assert said(english, "case/first day.md") == before[0]


@pytest.mark.req("G31", "G32")
def test_an_autobiography_that_never_names_its_author_outranks_a_textbook(memory: biem.Memory, tmp_path: Path) -> None:
    files = {
        "传记/牛顿.md": "# 牛顿\n\n## 少年\n\n我生在一个庄园里，常常坐在树下想事情，后来去了剑桥。\n",
        "教材/物理.md": "# 物理\n\n## 力学\n\n力的单位是牛顿，一牛顿等于每秒平方一千克米，十牛顿是十倍。\n",
    }
    synced(memory, tmp_path, files)
    assert best(memory, "牛顿少年的事情") == "传记/牛顿.md"


@pytest.mark.req("G45")
def test_without_words_a_query_of_keywords_is_ranked_otherwise(
    memory: biem.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = {
        f"part-{n}.md": f"# Part {n}\n\nThe machine has this part. " + "It turns with the others. " * n + "\n"
        for n in range(1, 7)
    }
    log = "# Log\n\nIn the third hall the pump stopped at night after a long run, and its display said E5 then.\n"
    synced(memory, tmp_path, {"log.md": log, **parts})

    def place() -> int:
        return [hit.note.path for hit in memory.notes.search("machine this part turns E5", top_k=20)].index("log.md")

    with_words = place()
    monkeypatch.setattr(memory._system.notes.index, "words", lambda *arguments: {})
    assert with_words < place()


@pytest.mark.req("G32", partly="homonyms")
def test_two_notes_of_the_same_text_are_distinguished_by_the_folder_that_the_query_names(
    memory: biem.Memory, tmp_path: Path
) -> None:
    text = "# Mercury\n\n## History\n\nIt was known long ago, and was given this name by the ancients.\n"
    files = {f"{folder}/mercury.md": text for folder in ("planets", "metals", "gods")}
    synced(memory, tmp_path, files)
    for folder in ("planets", "metals", "gods"):
        assert best(memory, f"history of mercury among the {folder}") == f"{folder}/mercury.md"


@pytest.mark.req("G32", partly="all five in one vault, in two languages")
@pytest.mark.parametrize(
    ("files", "renamed", "questions"),
    [
        (
            {
                "trees/plane.md": "# Plane\n\n## Age\n\nSome are older than the town itself.\n",
                "tools/plane.md": "# Plane\n\n## Age\n\nSome are older than the town itself.\n",
                "yarns/Merino.md": "# Merino\n\n## Washing\n\nBy hand at twenty degrees, dried flat.\n",
                "yarns/Alpaca.md": "# Alpaca\n\n## Washing\n\nBy hand at thirty degrees, dried flat.\n",
                "clocks/Brass.md": "# Brass\n\n## Repair\n\nThe spring was changed last winter.\n",
                **{
                    f"clocks/clock {n}.md": f"# Clock {n}\n\n## Repair\n\nThis clock of clocks is clock {n}.\n"
                    for n in range(8)
                },
                "play/act one.md": "# Act one\n\n## Garden\n\nThe “Gardener” hides the letter under a stone.\n",
                "play/act two.md": "# Act two\n\n## Garden\n\nThe cook hides the spoon under a stone.\n",
                "lives/Ada.md": "# Ada\n\n## School\n\nI learned numbers from my mother, and drew wings.\n",
                "books/units.md": "# Units\n\n## Ada\n\nAda is a language; Ada has types, and Ada programs are long.\n",
            },
            ("Gardener", "Tom Reed"),
            {
                "How old is a plane among trees?": "trees/plane.md",
                "How old is a plane among tools?": "tools/plane.md",
                "washing of Alpaca": "yarns/Alpaca.md",
                "repair of the clock of Brass": "clocks/Brass.md",
                "What does Tom Reed hide under a stone?": "play/act one.md",
                "Ada at school": "lives/Ada.md",
            },
        ),
        (
            {
                "乐器/琵琶.md": "# 琵琶\n\n## 年份\n\n最老的有三百年了。\n",
                "鱼类/琵琶.md": "# 琵琶\n\n## 年份\n\n最老的有三百年了。\n",
                "面料/亚麻.md": "# 亚麻\n\n## 洗涤\n\n三十度水洗，平铺晾干。\n",
                "面料/真丝.md": "# 真丝\n\n## 洗涤\n\n冷水手洗，平铺晾干。\n",
                "桥梁/听雨.md": "# 听雨\n\n## 维修\n\n栏杆去年换过。\n",
                **{f"桥梁/桥{n}.md": f"# 桥{n}\n\n## 维修\n\n这座桥是桥中之桥，桥的编号是{n}。\n" for n in range(8)},
                "戏/第一折.md": "# 第一折\n\n## 后院\n\n「管家」把信藏在石头下面。\n",
                "戏/第二折.md": "# 第二折\n\n## 后院\n\n厨子把勺子藏在石头下面。\n",
                "自述/祖冲之.md": "# 祖冲之\n\n## 少年\n\n我常常在夜里数星星，把影子的长短记下来。\n",
                "教材/圆.md": "# 圆\n\n## 祖冲之\n\n祖冲之率是分数，祖冲之率又叫密率，祖冲之率很准。\n",
            },
            ("管家", "周福"),
            {
                "乐器琵琶的年份": "乐器/琵琶.md",
                "鱼类琵琶的年份": "鱼类/琵琶.md",
                "真丝怎么洗涤": "面料/真丝.md",
                "桥梁听雨的维修": "桥梁/听雨.md",
                "周福把什么藏在石头下面": "戏/第一折.md",
                "祖冲之的少年": "自述/祖冲之.md",
            },
        ),
    ],
    ids=["English", "Chinese"],
)
def test_five_problems_of_one_vault(
    memory: biem.Memory, tmp_path: Path, files: dict[str, str], renamed: tuple[str, str], questions: dict[str, str]
) -> None:
    synced(memory, tmp_path, files)
    memory.notes.rename_tag(*renamed)
    assert {question: best(memory, question) for question in questions} == questions


@pytest.mark.parametrize("question", ["2026-03-14", "What happened on 14 March?", "3月14日", "2026年3月14日做了什么"])
def test_a_day_is_found_by_its_date_in_the_name_of_a_file_or_in_a_heading(
    memory: biem.Memory, tmp_path: Path, question: str
) -> None:
    days = "\n\n".join(f"## 2026-03-{day}\n\nIt rained on the harbour again." for day in range(10, 20) if day != 14)
    months = "\n\n".join(f"## {month}月14日\n\n港口下雨了。" for month in (1, 2, 4))
    files = {"weeks.md": f"# Weeks\n\n{days}\n", "月.md": f"# 月\n\n{months}\n"}
    journals = {f"journals/2026_03_{day}.md": "- Mended the roof.\n" for day in (13, 14, 15)}
    synced(memory, tmp_path, files | journals)
    assert best(memory, question) == "journals/2026_03_14.md"
    # And a day that is a heading is found by a date in another form
    [hit, *_] = memory.notes.search(question.replace("14", "17"))
    assert (hit.note.path, hit.chunk.headings[-1]) == ("weeks.md", "2026-03-17")


def test_a_word_is_found_in_two_parts_and_in_the_other_language(memory: biem.Memory, tmp_path: Path) -> None:
    # Given notes in English of which one says "backup", one "export" and all others are alike
    said = {
        "keeping.md": "# Keeping\n\nA nightly backup is written to the second disk.\n",
        "sharing.md": "# Sharing\n\nThe export writes one line for each entry.\n",
    }
    others = {f"shelf{number}.md": f"# Shelf {number}\n\nWritten lines on the disk {number}.\n" for number in range(9)}
    synced(memory, tmp_path, said | others)
    # Then a question finds the word in another spelling, and the one that a Chinese word means
    assert best(memory, "When do we back up?") == "keeping.md"
    for question, path in (("怎么导出？", "sharing.md"), ("备份写在哪里？", "keeping.md")):
        assert [hit.note.path for hit in memory.notes.search(question, top_k=20) if hit.why["words"] > 0] == [path]


def test_a_word_of_many_that_were_asked_for_is_little_of_the_question(memory: biem.Memory, tmp_path: Path) -> None:
    # Given a note with one word of a question, none of whose other words are in any
    files = {"a.md": "# Monday\n\nThe bus came late.\n", "b.md": "# Tuesday\n\nRain until noon.\n"}
    synced(memory, tmp_path, files)
    hits = memory.notes.search("why was the bus of the orchestra broken near Salzburg")
    assert {hit.note.path: hit.why["covered"] for hit in hits}["a.md"] < 0.5


def test_texts_that_were_read_while_memories_were_searched_are_not_read_again(
    memory: biem.Memory, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {f"{name}.md": f"# {name}\n\nThe ferry of the harbour is {name}.\n" for name in ("red", "blue", "green")}
    synced(memory, tmp_path, files)
    searcher = memory._system.notes.searcher
    passages, read = searcher._records.passages, list[str]()

    def reading(scopes: Sequence[biem.Scope], ids: Sequence[str]) -> dict[str, StoredPassage]:
        read.extend(ids)
        return passages(scopes, ids)

    monkeypatch.setattr(searcher._records, "passages", reading)
    # When the best two are read with the search
    found = searcher.find(memory.bound_to, "Which ferry is in the harbour?", read=2)
    best = [one.chunk.id for one in found.order]
    assert (read, len(best)) == (best[:2], 3)
    # Then two hits need nothing more, and three need the text of the third alone
    assert [hit.chunk.id for hit in searcher.told(found, top_k=2)] == best[:2]
    assert read == best[:2]
    assert [hit.chunk.id for hit in searcher.told(found, top_k=3)] == best
    assert read == best


def test_chunks_are_counted_again_only_after_another_process_has_added_some(
    memory: biem.Memory,
    settings: Configure,
    embedder: WordEmbedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # Given searches that each come after a pause
    monkeypatch.setattr("biem.notes.search.searcher._USED_S", 0.0)
    files = {f"{name}.md": f"# {name}\n\nThe ferry of the harbour is {name}.\n" for name in ("red", "blue")}
    synced(memory, tmp_path, files)
    records = memory._system.notes.searcher._records
    counts, counted = records.chunk_counts, list[dict[str, int]]()

    def counting(scopes: Sequence[biem.Scope]) -> dict[str, int]:
        counted.append(counts(scopes))
        return counted[-1]

    monkeypatch.setattr(records, "chunk_counts", counting)
    ns = memory.bound_to.ns
    # When nothing changes / Then only the first one counts
    for _ in range(3):
        memory.notes.search("Which ferry is in the harbour?")
    assert counted == [{ns: 2}]
    # When another system with the same servers adds a note / Then the next search counts, and finds it
    alone = settings(sleep=SleepPolicy(off=("notes",)))
    with biem.connect(alone, scope=memory.bound_to, embedder=embedder) as other:
        (tmp_path / "green.md").write_text("# green\n\nThe ferry of the harbour is green.\n", encoding="utf-8")
        other.notes.sync(wait=False)
        assert best(memory, "Which ferry is green?") == "green.md"
        other.notes.sync()
    assert counted == [{ns: 2}, {ns: 3}]
    memory.notes.search("Which ferry is in the harbour?")
    assert len(counted) == 2


def test_scopes_without_notes_count_nothing(memory: biem.Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    records = memory._system.notes.searcher._records
    monkeypatch.setattr(records, "chunk_counts", lambda _: pytest.fail("counted the chunks of a scope without notes"))
    monkeypatch.setattr(records, "sizes", lambda _: pytest.fail("looked for notes of a scope that has none"))
    memory.remember("The harbour has a ferry.")
    assert memory.recall("What does the harbour have?").notes == []
