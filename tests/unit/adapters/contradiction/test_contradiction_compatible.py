"""Pairs that can both hold: a memory that cries conflict over them loses its owner's trust."""

import pytest

from biem.adapters.contradiction.rules import RuleContradictions
from biem.domain.conflict import Statement
from biem.domain.policies.conflicts import ConflictPolicy

RULES = RuleContradictions()
POLICY = ConflictPolicy()

ENGLISH = """
My name is Ann Lee | My name is Ann
I am Ann's sister | I am Bob's sister
I am in Rome this week | I live in Paris
We met in Rome | We married in Paris
I was born in 1990 | I was born in London
I was born in May | I was born in 1990
My birthday is in May | My birthday is on May 3
I have two children | I have a dog
I have two children | We have 2 kids
I am 30 | I am 180 cm tall
The train leaves at 9:00 | The train arrives at 11:30
Lunch is at noon | The meeting is at 3 pm
The rent is $1000 | The deposit is $2000
My first flight is at 9:30 | My second flight is at 14:00
I work from home | I work in an office on Fridays
I work at a hospital | I work at night
I work for Google | I work in the cloud team
I study at night | I study at Oxford
I major in physics | I minor in maths
I am a teacher | I am a mother
I am a teacher | I am a good listener
I am a runner | I am an engineer
She is a vegetarian | She is a doctor
The project is important | The project is late
The meeting is on Monday | The meeting is in room 5
The meeting is at 3 pm | The meeting is in Berlin
Alice is the CEO of Acme | Bob is the CEO of Initech
The capital of France is Paris | The capital of Spain is Madrid
The manager of the shop is Ann | The manager of the bank is Bob
I like red | My car is blue
The red door is open | The blue door is closed
I don't work on Sundays | I work on Mondays
I don't like it when people are late | I like people
I don't eat pork | I eat pork-free sausages
I never said that | I said something else
I have no idea | I have an idea for dinner
I can't come on Monday | I can come on Tuesday
I couldn't sleep last night | I slept well on Sunday
It wasn't cold yesterday | It is cold today
I haven't seen the film | I have seen the trailer
Nobody likes Mondays | Everybody likes Fridays
No problem | There is a problem with my order
No, I live in Rome | I live in Rome
I moved the chair to the kitchen | My desk is in the bedroom
I moved to the front row | I live in Leeds
I changed my shirt | My shirt is blue
The price changed | The price is $30
I updated the report | The report is 30 pages long
He left the house at 9 | He works at Google
I left Google Maps open | I work at Microsoft
I turned 180 degrees | I am 26 years old
I want two sons | I have one son
My goal is 10 km | My record is 8 km
I wake up at 6 | I go to bed at 11
My son is 5 | My daughter is 7
My son's birthday is May 3 | My daughter's birthday is June 9
My old phone was black | My new phone is white
Bob's car is red | Ann's car is blue
My favourite band is Muse | My favourite song is Yellow
My favourite film as a child was Bambi | My favourite film is Alien
Ann used to work at Google | Ann works at Apple
I think I live in the best city | I live in Rome
You live in Paris | I live in Rome
They live in Paris | We live in Rome
The weather in Paris is cold | The weather in Rome is warm
Order 5 is delivered | Order 6 is cancelled
Version 2.0 is stable | Version 3.0 is unstable
Chapter 1 has 20 pages | Chapter 2 has 35 pages
Day 1: we walked 10 km | Day 2: we walked 15 km
On Monday I ate pizza | On Tuesday I ate pasta
I like tea | I like coffee
I love hiking | I love swimming
I know Ann | I have no car
A small flat is enough | All flats are full
She knows the answer | There is no answer
I live in Beijing | My sister lives in Shanghai
My brother is 30 years old | My sister is 25 years old
Ann lives in Paris | Bob lives in Rome
Ann: \tI live in Paris | Bob: \tI live in Rome
Ann: \tI am 26 years old | Bob: \tI am 40 years old
Ann: \tI like cats | Bob: \tI don't like cats
Ann: \tMy name is Ann | Bob: \tMy name is Bob
I live in Paris | I work in Versailles
I live in Portland | I live in Oregon
I live in Germany | I live in Berlin
I live in Portland | I live in downtown Portland
I work as a nurse | I work at St Mary's Hospital
I have two sons | I have one daughter
I have 3 cats | I have 2 dogs
I don't eat meat | I eat a lot of vegetables
I don't like coffee | I like tea
I do not own a car | I ride my bike to work
I can't swim | I can ski
I never drink alcohol | I drink two litres of water a day
Do you live in Paris? | I live in Rome
Where do you live? | I live in Rome
I live in Rome | Would you like to live in Paris?
If I lived in Paris, I would speak French | I live in Rome
I want to live in Paris | I live in Rome
I might move to Paris | I live in Rome
Ann said that she lives in Paris | I live in Rome
He wrote "I hate cats" on the wall | I love cats
I plan to move to Shanghai next year | I live in Beijing
I used to live in Paris | I live in Rome
I lived in Paris for two years | I live in Rome
I was a teacher once | I work as a nurse
I grew up in Madrid | I live in London
The meeting is at 3 pm | The dinner is at 7 pm
The meeting on Monday is at 3 pm | The meeting on Tuesday is at 5 pm
The design review is on Monday | The budget review is on Friday
The red car costs $20,000 | The blue car costs $25,000
My car is red | My bike is blue
My keys are in the drawer | My glasses are on the table
My favourite colour is blue | My favourite food is pizza
My favourite colour is blue | Ann's favourite colour is green
I ran 5 km today | I ran 3 km yesterday
I slept 8 hours last night | I worked 9 hours today
I paid $30 for lunch | I paid $50 for dinner
I bought a blue shirt | I bought a red jacket
I visited Rome in May | I visited Paris in June
The cat is asleep | The dog is awake
The shop opens at 9 am | The shop closes at 6 pm
The first chapter is easy | The last chapter is difficult
Summers here are hot | Winters here are cold
The soup was hot | The beer was cold
My mother is tall | My father is short
I am happy with my job | My boss is unhappy with the results
I always have breakfast | I never have a late dinner
Not all birds can fly | Most birds can fly
I am not only a teacher | I am a teacher
I don't like horror films | I like films
I don't dislike him | I don't like him
I am allergic to peanuts | I am allergic to shellfish
I am allergic to peanuts | My son is not allergic to peanuts
Ann is a doctor | Bob is a lawyer
My phone number is 555-123-4567 | Ann's phone number is 555-987-6543
My flight leaves on Friday | My sister's flight leaves on Sunday
The report has 12 pages | The report has 4 figures
I have a meeting with Ann on Monday | I have a meeting with Bob on Tuesday
Order A17 has shipped | Order A18 is pending
The ticket was closed by Ann | The ticket was opened by Bob
Let's meet at the station | Let's meet for lunch on Sunday
Don't forget the milk | I forgot the eggs
Please call me tomorrow | I never got your call
I speak English | I speak Spanish and French
I studied history at Oxford | I studied law at Harvard
I watched Titanic | I watched Avatar
I play the guitar | My brother plays the drums
It rained in London | It was sunny in Rome
Thanks, that is great! | That is bad news about the flight
I am learning Python | I am learning to cook
I am tired today | I was full of energy yesterday
My daughter likes maths | My son hates maths
I finished the first draft | I have not started the second book
I met Ann in 2015 | I met Bob in 2019
The old house was big | The new flat is small
We moved the sofa to the bedroom | I live in Leeds
He moved on after the breakup | I live in Leeds
I changed the oil of the car | The car is in the garage
"""

CHINESE = """
我是老师 | 我是两个孩子的妈妈
我是山东人 | 我是老师
我是学生 | 我是班长
我今年25岁 | 我身高175
我在北京出差 | 我住在上海
我在北京读的大学 | 我在上海工作
我生日在五月 | 我的生日是5月3日
火车9点出发 | 火车11点半到达
房租1000元 | 押金2000元
我在医院工作 | 我在晚上工作
会议在周一 | 会议在301室
法国的首都是巴黎 | 西班牙的首都是马德里
张伟是销售部经理 | 李娜是财务部经理
我周日不上班 | 我周一上班
我不吃猪肉 | 我吃牛肉
我周一来不了 | 我周二可以来
昨天不冷 | 今天很冷
我没看过这部电影 | 我看过预告片
没问题 | 我的订单有问题
我没想法 | 我有个想法
我把椅子搬到厨房了 | 我的书桌在卧室
我换了衣服 | 我的衣服是蓝色的
我儿子5岁 | 我女儿7岁
我儿子的生日是5月3日 | 我女儿的生日是6月9日
我旧手机是黑色的 | 我新手机是白色的
小王的车是红色的 | 小李的车是蓝色的
你住在北京 | 我住在上海
他们住在北京 | 我们住在上海
订单5已发货 | 订单6已取消
第一天走了10公里 | 第二天走了15公里
周一我吃了披萨 | 周二我吃了面条
我早上六点起床 | 我晚上十一点睡觉
我爱我的家乡 | 我讨厌堵车
我喜欢夏天 | 我不喜欢夏天的蚊子
我同意你的看法 | 我反对他的看法
我有钱的时候会旅行 | 我没钱
我不是不喜欢你 | 我喜欢你
我不得不去 | 我去
这个菜不辣 | 那个菜很辣
我不太饿 | 我饿的时候脾气不好
我家有三口人 | 我家有两只猫
我最喜欢的歌手是周杰伦 | 我最喜欢的演员是周星驰
我妹妹是护士 | 我弟弟是司机
妈妈在北京 | 爸爸在上海
苹果5元一斤 | 香蕉3元一斤
我昨天在家 | 我今天在公司
我想当医生 | 我是老师
我学英语 | 我学法语
我姓王 | 我叫王芳
我叫小王 | 我叫王芳
我喜欢喝茶 | 我喜欢喝咖啡
我特别喜欢猫 | 我也喜欢狗
我特别喜欢他 | 别喜欢他
我住在北京 | 我妹妹住在上海
王强住在北京 | 李明住在上海
小王\t我住在北京 | 小李\t我住在上海
小王\t我今年25岁 | 小李\t我今年30岁
小王\t我喜欢猫 | 小李\t我不喜欢猫
小王\t我叫王芳 | 小李\t我叫李雷
我妈妈是老师 | 我爸爸是医生
我在北京工作 | 我老家在山东
我是山东人 | 我住在北京
我住在北京 | 我住在北京朝阳区
我住在广东 | 我住在深圳
我有两个儿子 | 我有一个女儿
我养了三只猫 | 我养了两条狗
我不吃肉 | 我喜欢吃蔬菜
我不喜欢咖啡 | 我喜欢茶
我没有车 | 我每天骑车上班
我不会游泳 | 我会滑雪
你住在北京吗？ | 我住在上海
你住在哪里？ | 我住在上海
如果我住在北京，我会去长城 | 我住在上海
我想去北京生活 | 我住在上海
我打算明年搬到上海 | 我住在北京
听说他住在北京 | 我住在上海
我以前住在北京 | 我现在住在上海
我小时候在成都长大 | 我住在重庆
会议在下午3点 | 晚饭在晚上7点
周一的会议在下午3点 | 周二的会议在下午5点
我的车是红色的 | 我的自行车是蓝色的
钥匙在抽屉里 | 眼镜在桌子上
我最喜欢的颜色是蓝色 | 我最喜欢的食物是火锅
我最喜欢的颜色是蓝色 | 我妈妈最喜欢的颜色是绿色
我今天跑了5公里 | 我昨天跑了3公里
午饭花了30元 | 晚饭花了80元
我买了一件蓝色的衬衫 | 我买了一件红色的外套
五月我去了西安 | 六月我去了成都
商店早上9点开门 | 商店晚上6点关门
这里夏天很热 | 这里冬天很冷
我妈妈很高 | 我爸爸很矮
我对花生过敏 | 我对海鲜过敏
我对花生过敏 | 我儿子对花生不过敏
不是所有的鸟都会飞 | 大部分鸟都会飞
我不讨厌他 | 我不喜欢他
他写道：“我讨厌猫” | 我喜欢猫
王芳是我的上司，她的生日是5月3日 | 李雷是我的同事，他的生日是8月9日
我的电话是13800138000 | 妈妈的电话是13900139000
我女儿喜欢数学 | 我儿子讨厌数学
我会说英语 | 我会说法语
我看了《流浪地球》 | 我看了《三体》
我在学钢琴 | 我在学做饭
北京下雨了 | 上海是晴天
这家店的菜很好吃 | 那家店的菜不好吃
昨天我很忙 | 今天我很闲
第一章很容易 | 最后一章很难
别忘了买牛奶 | 我忘了买鸡蛋
我每天吃早饭 | 我从不吃夜宵
我不错，谢谢 | 他错了
一天的累都没了 | 今天真累
张伟在腾讯工作 | 刘洋在阿里工作
爸爸今年60岁 | 妈妈今年58岁
我认识小王 | 我不认识小李
我的狗叫旺财 | 我的猫叫咪咪
我姐姐结婚了 | 我弟弟还单身
订单A17已发货 | 订单A18待处理
红色的车卖20万 | 蓝色的车卖25万
我和小王周一开会 | 我和小李周二开会
"""


def statement(text: str) -> Statement:
    """`Ann: <tab> text` or `小王 <tab> text` names the speaker."""
    speaker, tab, said = text.strip(" ").partition("\t")
    return Statement(said, speaker.strip(" :")) if tab else Statement(speaker)


def pairs(lines: str) -> list[tuple[Statement, Statement]]:
    """Each line in both orders of time."""
    found = [line.split(" | ") for line in lines.strip().splitlines()]
    both = [(statement(one), statement(other)) for one, other in found]
    return both + [(newer, older) for older, newer in both]


@pytest.mark.req("X18", "B3", partly="the rules alone; the signal is raised by the engine")
@pytest.mark.parametrize("lines", [ENGLISH, CHINESE], ids=["english", "chinese"])
@pytest.mark.parametrize("similarity", [None, 0.4, 0.9])
def test_compatible_statements_are_not_recorded_as_conflicts(lines: str, similarity: float | None) -> None:
    # Given pairs of statements that can both hold
    compatible = pairs(lines)
    assert len(compatible) >= 100
    # When each is compared
    verdicts = [(older, newer, RULES.compare(older, newer, similarity)) for older, newer in compatible]
    # Then fewer than one in fifty would be recorded, and none would be acted upon
    wrong = [v for v in verdicts if v[2] is not None and v[2].confidence >= POLICY.record_confidence]
    assert len(wrong) < 0.02 * len(compatible), wrong
    assert not [v for v in wrong if v[2] is not None and v[2].confidence >= POLICY.act_confidence]
