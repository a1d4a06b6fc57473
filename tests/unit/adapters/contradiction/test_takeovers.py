"""Chinese updates told in passing take effect, and nothing beside them does."""

import pytest

from biem.adapters.contradiction import build
from biem.domain.conflict import Statement, Verdict
from biem.ports.contradiction import ContradictionRules

UPDATES = (
    # the former value has its own clause, the next one has the successor
    ("默认走韵达。", "韵达老是爆仓，统一换圆通发。"),
    ("画图软件用 Visio。", "Visio 太贵，我转用 draw.io 了。"),
    ("库房的钥匙在老缪手里。", "老缪回老家了，库房的钥匙交给小褚了。"),
    ("财务这块是老靳在管。", "老靳调去分公司了，财务这块交给了小佟。"),
    ("前台是小滕，嗓门很大。", "小滕自己创业去了，前台现在是阿苗在坐。"),
    ("中介是小卞，人很勤快。", "小卞跳槽了，接手的中介是阿琪。"),
    ("浇花用喷壶。", "喷壶坏了，现在用滴管。"),
    ("周刊都是晚上更新。", "晚上太吵没法写，改 weekend 早上更新了。"),
    ("决赛打红鹰队。", "红鹰队退赛了，决赛对手变成蓝狐队。"),
    ("豆浆机用九阳。", "九阳质量太差，换成苏泊尔了。"),
    # the thing stands right before the verb of change, or leads the text
    ("这个月的主菜是红烧鱼。", "天热了，主菜换凉拌鸡丝。"),
    ("绿萝放在门厅。", "绿萝晒黄了，搬到厨房去了。"),
    ("The blog runs on Netlify.", "搬家搬完了，blog 现在跑在 Vercel 上。"),
    # another number of the thing
    ("主库连接数上限设在300。", "昨晚又卡了，我把连接数上限调低到250。"),
    ("仓库一共6个货架。", "货架添了3个，总共9个货架了。"),
    ("目前扫了3200页老账本。", "又扫了一批，老账本到4100页了。"),
    ("队里阿澄身高一米七六。", "又给阿澄量了一次，一米七八。"),
    ("合唱课每周练三次。", "要比赛了，合唱课加到每周四次。"),
    ("我们晨会每天9:30。", "大家都起不来，晨会挪到 10 点。"),
    ("班会周四下午三点。", "班会换时间了，周二下午三点。"),
)
PARTIAL = (
    ("我有痛风，每天吃一片非布司他。", "非布司他停了，换成苯溴马隆。"),
    ("南湖的两居租给一个厨师，月租5600。", "厨师退租走人，南湖搬进来一个护工。"),
)
ONE_OF_SEVERAL = (
    ("仓储主管是老计，六点交接，钥匙挂在南门。", "老计退休了，主管换成小阮。", "仓储主管是老计"),
    ("琴房在三楼，每周一调音，由校工开门。", "琴房搬到五楼了。", "琴房在三楼"),
    ("我腰不好，约了四月二号做理疗。", "做理疗的日子改到四月九号了。", "约了四月二号做理疗"),
)
INNOCENT = (
    # the former value leads the older text, or has another part in it
    ("老靳住在城东。", "老靳调去分公司了，财务这块交给了小佟。"),
    ("我和老靳一个办公室。", "老靳调去分公司了，财务这块交给了小佟。"),
    ("我投诉过韵达。", "韵达老是爆仓，统一换圆通发。"),
    ("我在韵达实习过。", "韵达老是爆仓，统一换圆通发。"),
    ("我弟在韵达上班。", "韵达老是爆仓，统一换圆通发。"),
    # other people and other things
    ("我妈吃非布司他。", "非布司他停了，我换成苯溴马隆。"),
    ("预算批了35万。", "隔壁组的预算只有28万了。"),
    ("红桥的预算批了35万。", "绿洲的预算只有28万。"),
    ("仓库一共6个货架。", "门店扩了，添了3个，总共9个货架了。"),
    ("主卧的空调设26度。", "次卧的空调调到24度了。"),
    ("小论文写了8千字。", "大论文冲到4万5了。"),
    ("二楼WiFi叫 HomeUp。", "一楼的WiFi改名成 Loft_5G。"),
    ("阿澄的力量是52。", "阿澄的体力只有38。"),
    ("我们家房子78平", "我们家房租现在一个月1240"),
    ("绿萝放在门厅。", "绿萝旁边换了盏灯。"),
    # one occasion, a supposition, something further
    ("值夜的是阿蒙。", "今晚换卓凡值夜。"),
    ("我们用 Visio。", "如果 Visio 再涨价，就换成 draw.io。"),
    ("我车库里停着一辆标致。", "除了标致，车库里现在还有一辆马自达。"),
    # what changes is a thing that the older does not name
    ("铁剂我是饭后吃的。", "钙片改成睡前吃了。"),
    ("楼下药店会员日是每月8号。", "超市的会员日改成周二了。"),
    ("6204轴承在2号库", "6308的挪到5号库了"),
    # the same name, time of day or verb, but another thing or place
    ("阳台的灯是松下的。", "松下吹风机烧了，换成戴森了。"),
    ("我的背包是北面的。", "北面外套起球，换了骆驼。"),
    ("店里的门锁密码是6021。", "家里门锁密码改成7733了。"),
    ("我住四楼。", "单位搬到十二楼了。"),
    ("中午吃盖饭。", "晚上改吃沙拉了。"),
    ("夏天我用凉席。", "冬天换成电热毯了。"),
    ("柜台归老齐管。", "老齐换了新卡，登录改用指纹了。"),  # a word that the segmenter does not classify
    # a number takes the place of no name; too much is no mistake
    ("红桥的后端是老邬在写。", "红桥上线改到23号，物料没好。"),
    ("公众号每周三更新。", "这周公众号拖到周四才发，下不为例。"),
)


@pytest.fixture(scope="module")
def rules() -> ContradictionRules:
    return build()


def compared(rules: ContradictionRules, pair: tuple[str, str], *, follows: bool = False) -> Verdict | None:
    older, newer = (Statement(text, "user") for text in pair)
    return rules.compare(older, Statement(newer.text, "user", follows=follows), 0.5)


@pytest.mark.parametrize("pair", UPDATES)
def test_a_change_told_in_passing_takes_effect(rules: ContradictionRules, pair: tuple[str, str]) -> None:
    found = compared(rules, pair)

    assert found is not None
    assert found.aligned
    assert not found.partial
    assert found.confidence >= 0.8


@pytest.mark.parametrize("pair", PARTIAL)
def test_further_claims_of_the_older_stand(rules: ContradictionRules, pair: tuple[str, str]) -> None:
    found = compared(rules, pair)

    assert found is not None
    assert found.partial
    assert found.claim in pair[0]


@pytest.mark.parametrize(("older", "newer", "claim"), ONE_OF_SEVERAL)
def test_of_several_claims_the_one_that_changed_is_named(
    rules: ContradictionRules, older: str, newer: str, claim: str
) -> None:
    found = compared(rules, (older, newer))

    assert found is not None
    assert (found.partial, found.claim) == (True, claim)


def test_how_long_it_has_been_so_is_no_claim_of_its_own(rules: ContradictionRules) -> None:
    found = compared(rules, ("相机是理光的，用了五年。", "理光进水坏了，换了个富士。"))

    assert found is not None
    assert found.aligned
    assert not found.partial


@pytest.mark.parametrize("pair", INNOCENT)
def test_what_is_about_something_else_retires_nothing(rules: ContradictionRules, pair: tuple[str, str]) -> None:
    found = compared(rules, pair)

    assert found is None or not (found.aligned and found.confidence >= 0.8)


def test_too_much_is_no_mistake(rules: ContradictionRules) -> None:
    found = compared(rules, ("和我搭班的是小林老师。", "我有慢性咽炎，话说多了就哑。"), follows=True)

    assert found is None or not found.aligned


def test_going_over_is_not_the_past(rules: ContradictionRules) -> None:
    assert not rules.matter("练车都是晚上，下班过去。").past
    assert rules.matter("过去我住在大连。").past
