"""What a text speaks of and which kinds of value it asks for or gives."""

import pytest

from biem.adapters import contradiction
from biem.domain.conflict import Statement

RULES = contradiction.build()


@pytest.mark.parametrize(
    ("question", "wants"),
    [
        ("When do we meet?", {"time"}),
        ("What day is the exam?", {"time"}),
        ("On which evening does the band play?", {"time"}),
        ("林晓几号出发？", {"time"}),
        ("我们什么时候开会？", {"time"}),
        ("How much is the rent?", {"amount"}),
        ("我有几只猫？", {"amount"}),
        ("房租多少钱？", {"amount"}),
        ("What is my uncle's phone number?", {"digits"}),
        ("我舅舅的手机号码是多少？", {"digits", "amount"}),
        ("What is the number of the house made of?", set()),
        ("What is our boat called?", {"name"}),
        ("我们的船叫什么名字？", {"name"}),
        ("Where do I live?", {"place"}),
        ("我住在哪里？", set()),
        ("How old is my nephew?", {"age"}),
        ("How long is the lease?", {"span"}),
        ("How often do I water the fern?", {"often"}),
        ("What does the drummer earn?", {"amount"}),
        ("What do we pay for the hall?", {"amount"}),
        ("What did I pay for?", set()),
        ("What's the fee for the mooring?", {"amount"}),
        ("What is Ada's birthday?", {"time"}),
        ("What is my birthday wish?", set()),
        ("What is the membership number?", {"digits"}),
        ("What number is the bus?", set()),
    ],
)
def test_a_question_asks_for_a_kind_of_value(question: str, wants: set[str]) -> None:
    assert RULES.matter(question).wants == wants


@pytest.mark.parametrize(
    ("text", "given", "absent"),
    [
        ("The course is on Mondays.", "time", "amount"),
        ("We meet at half past six.", "time", ""),
        ("Graz it is, since March.", "time", "amount"),
        ("每周四下午开会。", "time", ""),
        ("10 月 27 号出发。", "time", ""),
        ("The rent is 900 euros.", "amount", "time"),
        ("I have twelve hens.", "amount", "time"),
        ("剩下七个等我回来再放。", "amount", "time"),
        ("We sail on the Kittiwake.", "name", "amount"),
        ("Our boat needs new ropes on Monday.", "time", "name"),
        ("船名是海鸥号。", "name", "amount"),
        ("The fair is on the ninth of June.", "time", ""),
        ("Rehearsal on the eleventh.", "time", ""),
        ("The kitchen is on the second floor.", "place", "time"),
        ("They shut the gate at eight.", "time", ""),
        ("She arrived at eight houses.", "amount", "time"),
        ("Ada turned forty.", "age", ""),
        ("Ada was born on 3 April.", "time", "age"),
        ("Ada ran it in 12.4.", "amount", "age"),
        ("I'm in plaster for six weeks.", "span", ""),
        ("They moved me to the 14th.", "time", "span"),
        ("The fern gets water twice a week.", "often", ""),
        ("The kiosk is next to the mill.", "place", ""),
        ("The drummer is twenty.", "age", "place"),
        ("船上有三根新绳子。", "amount", "name"),
    ],
)
def test_a_text_gives_kinds_of_value(text: str, given: str, absent: str) -> None:
    gives = RULES.matter(text).gives
    assert given in gives
    assert absent not in gives


def test_a_day_in_words_is_that_day() -> None:
    assert RULES.matter("The fair is on the third of May.").numbers == {"05-03"}
    assert RULES.matter("The fair is on the third of May.").which == set()
    assert RULES.matter("The fair is on June the twenty-first.").numbers == {"06-21"}
    assert RULES.matter("The fair is on the ninth.").numbers == {"9"}
    assert RULES.matter("The third of my sons sings.").numbers == set()


def test_what_was_done_since_something_could_not_be_is_decided() -> None:
    assert not RULES.matter("They couldn't repair the organ, so we sing with the piano.").open
    assert not RULES.matter("Tin might rust, we settled for zinc.").open
    assert not RULES.matter("排班表搬到飞书里了。").open
    assert RULES.matter("这本书里的主角搬到海边了。").open
    assert RULES.matter("Tin might rust, we looked at zinc.").open
    assert RULES.matter("I couldn't sing with a piano.").open
    assert RULES.matter("They couldn't repair the organ, so we might sing alone.").open


def test_what_is_live_has_no_home() -> None:
    assert RULES.matter("Which build is live?").topics == set()
    assert RULES.matter("The new site went live.").topics == set()
    assert RULES.matter("Where does he live?").topics == {"home"}


def test_an_extension_to_a_day_is_about_a_deadline() -> None:
    assert "deadline" in RULES.matter("I was given an extension to the end of May.").topics
    assert "deadline" not in RULES.matter("They are building an extension.").topics


def test_from_here_on_is_no_place_that_a_person_is_from() -> None:
    assert RULES.matter("The club goes by Linde from here on.").persons == set()


def test_what_is_left_is_no_employer_that_was_left() -> None:
    assert "employer" in RULES.matter("I left Otto.").topics
    assert RULES.matter("So 32,600 euros are left.").topics == {"money", "rest"}
    assert not RULES.matter("Seventeen are left of the 24.").changes


def test_what_a_text_speaks_of_is_read_once() -> None:
    text = "My mother's flat is in Graz."
    assert RULES.matter(text) is RULES.matter(text)


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("我找到了新的室友。", {"me", "me.roommate"}),
        ("幸好李娜当我的老板。", {"me.boss", "李娜"}),
        ("我对什么过敏？", {"me"}),
        ("最近改做普拉提。", set()),
        ("更正：最爱的花，兰花。", set()),
        ("张敏住在深圳。", {"张敏"}),
        ("我高中同学张敏住在深圳。", {"me.classmate", "张敏"}),
        ("我表妹的猫叫糯米。", {"me.cousin"}),
        ("我的猫叫糯米。", {"me.cat"}),
        ("We have two sons.", {"me", "me.son"}),
        ("We have twins.", {"me", "me.kid"}),
        ("Do we have two sons?", {"me"}),
        ("我有两个弟弟，都在苏州。", {"me", "me.brother"}),
        ("Book club is on Mondays from now on.", set()),
        ("Nadia, my dentist's receptionist, lives in Leuven.", {"nadia"}),
        ("Nadia, my dentist's receptionist, called me.", {"nadia", "me"}),
    ],
)
def test_who_is_spoken_of(text: str, persons: set[str]) -> None:
    assert RULES.matter(text).persons == persons


def test_numbers_are_written_alike_in_both_languages() -> None:
    one, other = RULES.matter("The parents meet on Tuesday at 8:00."), RULES.matter("家长会从周二8点调走了。")
    assert one.numbers & other.numbers


@pytest.mark.parametrize("text", ["我是说10月11日。", "我想说的是10月11日。", "我刚才说的是10月11日。"])
def test_a_speaker_who_explains_what_he_means_reports_no_other_speaker(text: str) -> None:
    assert RULES.matter(text).holds


@pytest.mark.parametrize("text", ["我不是不喝红茶了。", "我并非不练击剑了。"])
def test_a_double_negation_ends_nothing(text: str) -> None:
    assert not RULES.matter(text).holds


def test_a_deadline_and_an_order_carried_out_are_facts() -> None:
    deadline = RULES.matter("The parcel won't be here before the 9th of March.")
    assert deadline.holds
    assert not deadline.past
    assert RULES.matter("I had my tooth pulled, so no nuts.").holds
    # Unlike a supposition that is turned round
    assert not RULES.matter("Had my sister called, I'd have stayed.").holds


@pytest.mark.parametrize("text", ["读书小组在看《红楼梦》。", "我现在读《如果在冬夜》。"])
def test_the_words_of_a_title_say_nothing_of_the_statement(text: str) -> None:
    assert RULES.matter(text).holds


@pytest.mark.parametrize(
    ("text", "person", "no_person"),
    [
        ("我姐姐阿雯家在湖边。", "me.sister", "阿雯家"),
        ("合唱团的李娜在海尔上班。", "李娜", ""),
        ("萨尔萨课改到周日了。", "", "萨尔"),
    ],
)
def test_a_word_that_begins_or_ends_with_a_name_is_no_person(text: str, person: str, no_person: str) -> None:
    persons = RULES.matter(text).persons
    assert not person or person in persons
    assert no_person not in persons


@pytest.mark.parametrize(
    ("text", "topics"),
    [
        ("The repair is going to be 90 quid.", {"money"}),
        ("I cycle to work.", {"bike", "commute"}),
        ("She plays the harp.", {"music"}),
        ("We left early.", set()),
        ("When is my trial?", set()),
        ("My wife Ida is a nurse.", {"job", "name"}),
        ("Hi, I'm Ada Roth.", {"name"}),
        ("I'm Swiss.", set()),
        ("早安，我叫顾一帆，在无锡上班。", {"employer", "name"}),
        ("她在公司开了个会。", {"employer"}),
        ("What is my pension?", set()),
        ("Who is my boss?", {"name"}),
        ("Our old dog died.", {"pet"}),
        ("I'm Ruth, 71, a retired baker.", {"age", "job", "name"}),
        ("我姓柴，今年六十八。", {"age"}),
        ("他是中学体育老师。", {"job", "school", "sport", "teacher"}),
    ],
)
def test_words_with_many_meanings_name_no_topic(text: str, topics: set[str]) -> None:
    assert RULES.matter(text).topics == topics


@pytest.mark.parametrize(
    ("text", "own"),
    [
        ("What's my name?", True),
        ("Call me Jo.", True),
        ("我叫什么？", True),
        ("我是冯小溪，在武汉读博。", True),
        ("我是老师。", False),
        ("My boat is called Otter.", False),
        ("我叫了一辆车。", False),
        ("双胞胎一个叫安安，一个叫宁宁。", False),
    ],
)
def test_the_speakers_own_name_is_distinguished_from_other_names(text: str, own: bool) -> None:
    assert ("name" in RULES.matter(text).attributes) is own


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("My brother Jonas plays chess.", {("me.brother", "jonas")}),
        ("My sister in law Petra is here.", {("me.sister", "petra")}),
        ("我闺女叫林小满，上初一。", {("me.daughter", "林小满"), ("me.daughter", "小满")}),
        ("My brother plays chess.", set()),
        ("My brother is called Jonas.", {("me.brother", "jonas")}),
        ("My sister's name is Petra.", {("me.sister", "petra")}),
        ("Our cat Momo is asleep.", {("me.cat", "momo")}),
        ("Our old dog is called Bruno.", {("me.dog", "bruno")}),
        ("The neighbour's cat is called Tiger.", set()),
        ("我家猫叫煤球。", {("me.cat", "煤球")}),
        ("我表哥Henrik在学木工。", {("me.cousin", "henrik")}),
        ("我侄女叫Signe，今年五岁。", {("me.niece", "signe")}),
        ("我领导是Oskar。", {("me.boss", "oskar")}),
        ("我表哥在BASF上班。", set()),
        ("邻居家的猫叫煤球。", set()),
        ("We have a daughter, Orla, who is six.", {("me.daughter", "orla")}),
        ("我认识了新的男朋友，叫许安平，是木匠。", {("me.boyfriend", "许安平"), ("me.boyfriend", "安平")}),
    ],
)
def test_a_relative_is_known_by_name(text: str, called: set[tuple[str, str]]) -> None:
    assert RULES.matter(text).called == called


@pytest.mark.parametrize(
    ("text", "holds", "changes"),
    [
        ("I started eating fish again, my doctor told me to.", True, True),
        ("说来惭愧，我又抽上烟了。", True, True),
        ("I'm back on decaf.", True, True),
        ("He told me that he started smoking again, doctor said it is bad.", False, False),
        ("Seven are finished.", True, False),
    ],
)
def test_a_return_to_a_habit_is_a_change(text: str, holds: bool, changes: bool) -> None:
    matter = RULES.matter(text)
    assert (matter.holds, matter.changes) == (holds, changes)


def test_a_day_is_no_person_and_a_companion_is_not_the_subject() -> None:
    assert RULES.matter("水管是哪天修的？").persons == set()
    assert RULES.matter("I live in Ghent with my husband Gerald.").persons == {"me"}
    assert RULES.matter("我弟在成都读大三。").persons == {"me", "me.brother"} - {"me"}
    assert RULES.matter("Oskar is staying in Ghent with his dad.").persons == {"oskar"}


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Machine 2 now runs at 35 bar.", {"#2"}),
        ("Press number 2 takes 8 mm bits now.", {"#2"}),
        ("Server B now has 32 GB.", {"#b"}),
        ("The rent of flat 4 is 750 now.", {"#4"}),
        ("What does flat 3 pay?", {"#3"}),
        ("一号机床的刀是6毫米的", {"#1"}),
        ("3号楼这礼拜封到14层", {"#3"}),
        ("三号楼盖到第几层了？", {"#3"}),
        ("A组下周二交，B组周五交", {"#a", "#b"}),
        ("I am in room 12.", set()),
        ("Room 12 is my office.", set()),
        ("Around 40 will come to the wedding.", set()),
        ("After 5 is best for calls.", set()),
        ("Windows 10 runs on my laptop.", set()),
        ("The team has 12 engineers.", set()),
        ("Which of the 3 machines runs at 35 bar?", set()),
        ("Do I take 2 pills a day?", set()),
        ("Which flat pays 735?", set()),
        ("8号门诊看牙", set()),
        ("3号房租到期", set()),
        ("I take bus 38 to work.", set()),
        ("Rent 90 euros now.", set()),
        ("我住3号楼", set()),
        ("17号预报有台风", set()),
        ("预产期8月28号", set()),
    ],
)
def test_a_label_distinguishes_the_subject_and_is_a_value_elsewhere(text: str, labels: set[str]) -> None:
    assert RULES.matter(text).which == labels


@pytest.mark.parametrize(
    ("older", "newer", "other"),
    [
        ("一号机床的刀是6毫米的。", "一号机床的刀换成8毫米的了。", "二号机床的刀换成8毫米的了。"),
        ("Server A has 16 GB of memory.", "Server A now has 32 GB of memory.", "Server B now has 32 GB of memory."),
        ("Flat 3 pays 700 a month.", "Flat 3 pays 735 a month now.", "Flat 4 pays 735 a month now."),
    ],
)
def test_a_labelled_thing_disputes_itself_and_no_other_one(older: str, newer: str, other: str) -> None:
    same, another = (
        RULES.compare(Statement(older, "ann"), Statement(text, "ann"), 0.9, least=0.1) for text in (newer, other)
    )
    assert same is not None
    assert another is None


@pytest.mark.parametrize(
    "text", ["I take 20 mg in the morning.", "Physio is on weekends.", "爸爸晚上吃药。", "降压药是睡前吃的。"]
)
def test_a_part_of_the_day_is_a_time(text: str) -> None:
    assert "time" in RULES.matter(text).gives


@pytest.mark.parametrize(
    ("text", "changes"),
    [("妈妈每天吃降压药。", False), ("变压器是两百瓦的。", False), ("工资降了。", True), ("变成两百瓦了。", True)],
)
def test_a_long_noun_that_begins_with_a_word_of_change_tells_of_none(text: str, changes: bool) -> None:
    assert RULES.matter(text).changes is changes


def test_what_people_do_for_themselves_is_theirs() -> None:
    assert RULES.matter("Taught myself the ukulele.").persons == {"me"}
    assert RULES.matter("Built the shed ourselves.").persons == {"me"}


def test_a_pet_without_an_owner_is_the_speakers_unless_it_is_a_stray() -> None:
    assert RULES.matter("楼下那只流浪猫叫大黄。").persons == set()
    assert RULES.matter("猫生病了。").persons == {"me.cat"}
    assert RULES.matter("昨天带狗去看兽医。").persons == {"me.dog"}
    assert RULES.matter("我养的猫生病了。").persons == {"me.cat"}


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("My elder son starts school.", {"#elder"}),
        ("Our oldest daughter lives in Leeds.", {"#elder"}),
        ("What does my big brother do?", {"#elder"}),
        ("My youngest is allergic to nuts.", {"#younger"}),
        ("My middle daughter plays the harp.", {"#middle"}),
        ("小儿子什么时候打疫苗？", {"#younger"}),
        ("我哥哥住在成都。", {"#elder"}),
        ("二女儿在学钢琴。", {"#second"}),
        ("外婆住院了。", {"#maternal"}),
        ("叔叔在上海。", {"#paternal"}),
        ("我表姐结婚了。", {"#elder"}),
        ("What is my eldest allergic to?", {"#elder"}),
        ("周二妈妈去做透析。", set()),
        ("我在加拿大妈妈在上海。", set()),
        ("My oldest and dearest friend lives in Rome.", set()),
        ("My oldest car still runs.", set()),
        ("My daughter likes older songs.", set()),
        ("我女儿长大了。", set()),
        ("我儿子很小。", set()),
    ],
)
def test_a_rank_distinguishes_relatives(text: str, ranks: set[str]) -> None:
    assert RULES.matter(text).which == ranks


@pytest.mark.parametrize(
    ("older", "newer", "other"),
    [
        ("大女儿对花生过敏。", "大女儿对花生不过敏了。", "小女儿对花生不过敏了。"),
        ("我姐姐的生日是5月3号。", "更正：我姐姐的生日是6月1号。", "更正：我妹妹的生日是6月1号。"),
        (
            "My older daughter has ballet on Wednesdays.",
            "My eldest daughter now has ballet on Fridays.",
            "My youngest daughter now has ballet on Fridays.",
        ),
    ],
)
def test_relatives_of_different_ranks_do_not_contradict_each_other(older: str, newer: str, other: str) -> None:
    same, another = (
        RULES.compare(Statement(older, "ann"), Statement(text, "ann"), 0.9, least=0.1) for text in (newer, other)
    )
    assert same is not None
    assert another is None


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("My wife's sister is called Ann.", {"me.wife.sister"}),
        ("My husband's mother-in-law sold the farm.", {"me.husband.mother-in-law"}),
        ("我老婆的妹妹叫小红花。", {"me.wife.sister"}),
        ("我老婆和我老婆的妹妹都来了。", {"me.wife", "me.wife.sister"}),
    ],
)
def test_a_relative_of_a_relative_is_another_person(text: str, persons: set[str]) -> None:
    matter = RULES.matter(text)
    assert matter.persons == persons
    assert not matter.called  # the name is that of neither relative of the user


@pytest.mark.parametrize(
    ("older", "newer", "other"),
    [
        (
            "The weekly sync is on Tuesday.",
            "The weekly sync moved to Thursday.",
            "We moved the monthly sync to Thursday.",
        ),
        ("My morning run is at 6.", "I moved my morning run to 7.", "I moved my evening run to 7."),
        ("The night shift starts at 22.", "The night shift starts at 23 now.", "The day shift starts at 7 now."),
        ("晚上的药吃两片。", "晚上的药改成三片了。", "早上的药改成三片了。"),
        ("部门会议在周五。", "部门会议改到下周一了。", "项目会议改到下周一了。"),
        ("口语考试在周五。", "口语考试推迟到下周一了。", "期中考试推迟到下周一了。"),
    ],
)
def test_what_has_another_time_interval_or_beginning_is_another_thing(older: str, newer: str, other: str) -> None:
    same, another = (RULES.compare(Statement(older, "ann"), Statement(text, "ann"), 0.8) for text in (newer, other))
    assert same is not None
    assert same.aligned
    assert another is None or not another.aligned


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("Here's my niece's new locker number: 31.", {"me.niece"}),
        ("In the play the miller's brother is called Jakob.", {"miller.brother"}),
        ("My granddad has moved to Ulm.", {"me.granddad"}),
        ("My other cousin has moved to Ulm.", {"me.cousin"}),
        ("My landlady's phone number is 0650 3.", {"me.landlady"}),
        ("My tutor has a new email address.", {"me.tutor"}),
        ("My accountant has a new fax number.", {"me.accountant"}),
        ("My dentist's appointment is on 9 May.", {"me"}),
        ("我干妈的生日是三月九号。", {"me.godmother"}),
        ("我外甥女在学画画。", {"me.niece"}),
        ("My niece is learning to paint.", {"me.niece"}),
        ("我外孙女会游泳了。", {"me.granddaughter"}),
        ("我干儿子转学了。", {"me.godson"}),
        ("我先生在电视台。", {"me.husband"}),
        ("Jonas的妈妈在电视台。", {"jonas.mother"}),
        ("Correction, my weight is 71 kg, not 81 kg.", {"me"}),
        ("The dog's vaccination is due.", {"me.dog"}),
        ("Kofi told me he is allergic to soy.", {"kofi"}),
        ("Tara is in form 2, Finn is in form 6.", {"tara", "finn"}),
        ("我房东的生日是三月九号。", {"me.房东"}),
        ("我教练换手机号了。", {"me.教练"}),
        ("豆豆上二年级，安安上四年级。", {"豆豆", "安安"}),
        ("天天上班真累。", set()),
    ],
)
def test_an_owner_is_a_person_of_the_text(text: str, persons: set[str]) -> None:
    assert RULES.matter(text).persons == persons


@pytest.mark.parametrize(
    "text",
    [
        "What if my shift began at noon?",
        "I dreamt that the shift begins at noon.",
        "I'd like the shift to begin at noon.",
        "Should I begin my shift at noon? I'm torn.",
        "Joke of the week: my shift begins at noon now.",
        "They asked me when my shift begins.",
        "要是中午上班就好了。",
        "昨晚梦到改成中午上班了。",
        "我嫂子以为我中午上班。",
        "我想改成中午上班。",
        "同事问我是不是中午上班。",
    ],
)
def test_what_is_not_so_or_only_weighed_is_open(text: str) -> None:
    assert RULES.matter(text).open


@pytest.mark.parametrize(
    "text",
    [
        "My shift begins at noon now.",
        "I never begin before noon.",
        "My shift begins at noon now, could you note that?",
        "If you look for me, my shift begins at noon now.",
        "The boss said that my shift begins at noon.",
        "开学以后改成中午上班了。",
        "我以为是早上，其实是中午上班。",
        "我想起来了，改成中午上班了。",
        "现在改成中午上班了，你能记一下吗？",
    ],
)
def test_what_is_so_or_reported_is_not_open(text: str) -> None:
    assert not RULES.matter(text).open


@pytest.mark.parametrize("text", ["My old kettle broke, so I bought a Bosch one.", "旧水壶坏了，买了个苏泊尔的。"])
def test_the_end_of_an_old_thing_and_what_came_after_it_is_a_change(text: str) -> None:
    matter = RULES.matter(text)
    assert matter.changes
    assert not matter.past


def test_who_goes_over_there_tells_nothing_of_the_past() -> None:
    assert not RULES.matter("舅公的作坊迁到龙岩，小姑也搬过去了。").past
    assert RULES.matter("小姑过去在作坊里染布。").past
    assert (
        "school" in RULES.matter("我嫂子在哪里读博士？").topics & RULES.matter("My sister does a PhD in Umeå.").topics
    )


@pytest.mark.parametrize(
    ("text", "persons"),
    [
        ("Has Oda got a fishing licence?", {"oda"}),
        ("Is Tilo learning Dutch?", {"tilo"}),
        ("Thursday's rowing, so the ironing moved to Sunday.", set()),
        ("Everything goes through the new till.", set()),
        ("We watched the Corsair from outside the harbour.", {"me"}),
    ],
)
def test_words_in_capitals_that_name_nobody_are_no_persons(text: str, persons: set[str]) -> None:
    assert RULES.matter(text).persons == persons


def test_what_is_compared_with_the_old_one_tells_of_the_present() -> None:
    assert not RULES.matter("Oda is happy at Fernhill, she'd never go back to the old stable.").past
    assert not RULES.matter("The new oven is quicker than the old one ever was.").past
    assert RULES.matter("My old stable had a leaky roof.").past


def test_a_relative_may_be_introduced_by_name() -> None:
    matter = RULES.matter("Zoë, my cousin, can't stand cellars.")
    assert matter.called == {("me.cousin", "zoë")}
    assert "name" in matter.gives
    assert not RULES.matter("Sorry, my cousin called.").called


@pytest.mark.parametrize(
    ("text", "topic"),
    [
        ("We rent a draughty attic flat in Leith.", "home"),
        ("I share the top-floor studio with a cellist.", "home"),
        ("She's in the third year of botany at Wageningen.", "school"),
        ("Oda is doing a degree in forestry.", "school"),
    ],
)
def test_a_room_and_a_year_of_study_name_their_topic(text: str, topic: str) -> None:
    assert topic in RULES.matter(text).topics


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("Oda can't manage half eight, so we row at nine.", {"08:30", "09:00"}),
        ("The ferry leaves at ten to four.", {"03:50"}),
        ("Supper is at a quarter past seven.", {"07:15"}),
        ("We open at twenty-five minutes to one.", {"12:35"}),
        ("She slept until one.", {"01:00"}),
        ("It is two to three times as long.", set()),
        ("I meet them one to one.", set()),
    ],
)
def test_times_of_day_in_words_are_numbers(text: str, times: set[str]) -> None:
    assert {number for number in RULES.matter(text).numbers if ":" in number} == times


def test_a_relation_in_english_is_known_within_a_chinese_text() -> None:
    told = RULES.matter("我的 manager 叫 Odile，每周一跟她开会。")
    assert told.persons == {"me.boss"}
    assert told.called == {("me.boss", "odile")}
    assert RULES.matter("我 roommate 在学潜水").persons == {"me.roommate"}
    assert RULES.matter("我 report 给 Odile").persons == {"me"}


@pytest.mark.parametrize(
    ("text", "is_open"),
    [
        ("Pia takes the tablets, she would not swallow the syrup.", False),
        ("She'd like a dog, and I would not mind one.", True),
        ("Pia would take the tablets.", True),
    ],
)
def test_a_refusal_leaves_nothing_open(text: str, *, is_open: bool) -> None:
    assert RULES.matter(text).open is is_open


@pytest.mark.parametrize(
    ("text", "which"), [("He sleeps in the back room.", {"back"}), ("The train back is at nine.", {"return"})]
)
def test_a_thing_at_the_back_is_no_way_back(text: str, which: set[str]) -> None:
    assert RULES.matter(text).which == which
