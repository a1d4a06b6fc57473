"""Chinese sentences that state a single-valued attribute: groups as in `patterns_en`; 我 may be left out."""

_START = (
    r"^(?:嗯|哦|啊|好吧|其实|是的?|是啊|对|对啊|对的|不是|没有|现在|目前|最近|今年|"
    r"后来|去年|上个月|上周|昨天|今天|更新[:：]?|但是?|所以|因为|而且|那|那个|，|\s)*"
)
_WHO = (
    r"(?P<who>(?:我|你|他|她|咱)们?的?(?:妈妈?|爸爸?|哥哥?|姐姐?|弟弟?|妹妹?|爷爷|奶奶|外公|外婆|老婆|老公|妻子|丈夫|儿子|女儿|朋友|同事|同学|"
    r"室友|邻居|老板|领导|男朋友|女朋友|男友|女友|孩子|父亲|母亲)?|[\u4e00-\u9fff]{2,3}(?=住|在|是|叫|今年|家|来自|搬|最喜欢|从|的|现|目))?"
)
_ADVERB = r"(?:现在|目前|如今|今年|一直|其实|还|也|就|都|已经|刚|才|最近|上个?月|上周|去年|今年|前几天|昨天|年初|，)*"
_NOT = r"(?P<not>不再?|没有?|并不|并非)?"
_VALUE = r"(?P<value>[\u4e00-\u9fffA-Za-z0-9· ]{1,16}?)"
_END = r"(?=(?:了|的|啊|呀|呢|哦|吧|哈|嘛|这边|这里|那边|那里|工作|上班|上学|读书|生活)*$)"
_PLACE = r"(?P<value>[\u4e00-\u9fffA-Za-z]{2,10}?)"
PATTERNS = {
    "home": (
        rf"{_START}{_WHO}{_ADVERB}{_NOT}住(?:在)?{_ADVERB}{_PLACE}{_END}",
        rf"{_START}{_WHO}{_ADVERB}{_NOT}在{_PLACE}(?:住|生活|定居|居住)(?:了|的|着|啊)*$",
        rf"{_START}{_WHO}{_ADVERB}(?:全家)?(?P<changed>搬到|搬去|搬家到|搬来|搬回|移居)了?{_PLACE}{_END}",
        rf"^(?P<who>[\u4e00-\u9fff]{{0,8}}(?:公司|总部|办公室|学校|工厂|仓库|门店))(?:现在)?在{_PLACE}{_END}",
        rf"{_START}{_WHO}(?:新)?家(?:现在)?(?:在|住){_PLACE}{_END}",
        rf"{_START}{_WHO}(?P<past>以前|原来|之前|曾经|过去)(?:是)?住在{_PLACE}{_END}",
        rf"{_START}{_WHO}(?:的)?(?P<changed>新)?(?:家庭)?(?:住址|地址)是{_VALUE}{_END}",
    ),
    "origin": (
        rf"{_START}{_WHO}{_ADVERB}{_NOT}(?:是){_ADVERB}"
        rf"(?P<value>(?!.{{0,5}}[零一二两三四五六七八九十百千万几多少个女男好坏商老大家年轻工路病客主])[\u4e00-\u9fff]{{1,6}})人{_END}",
        rf"{_START}{_WHO}{_ADVERB}{_NOT}来自{_PLACE}{_END}",
        rf"{_START}{_WHO}(?:的)?老家(?:是|在){_PLACE}{_END}",
    ),
    "age": (
        rf"{_START}{_WHO}{_ADVERB}(?:是|满|快)?(?P<value>[\d一二三四五六七八九十]{{1,3}})周?岁{_END}",
        rf"{_START}{_WHO}{_ADVERB}(?P<value>[1-9]\d|[二三四五六七八九]?十[一二三四五六七八九]?)(?:了|啊|啦|呀)*$",
    ),
    "birth year": (rf"{_START}{_WHO}{_ADVERB}是?(?P<value>\d{{2}}|\d{{4}})年(?:出生|生)?的?{_END}",),
    "birthday": (rf"{_START}{_WHO}(?:的)?生日(?:是|在){_VALUE}{_END}",),
    "name": (
        rf"{_START}{_WHO}(?:的)?(?:名字)?(?:是叫|叫做|叫|名字是|姓名是|全名是)(?P<value>[\u4e00-\u9fffA-Za-z]{{2,8}}?){_END}",
        rf"{_START}{_WHO}{_ADVERB}姓(?P<value>[\u4e00-\u9fff]){_END}",
    ),
    "job": (
        rf"{_START}{_WHO}{_ADVERB}{_NOT}(?:是|在)?(?:做|搞|干|从事)(?P<value>[\u4e00-\u9fffA-Za-z]{{2,10}}?)(?:行业|工作|这行|方面)*的(?:啊|呀|哦|了)*$",
        rf"{_START}{_WHO}{_ADVERB}{_NOT}(?:是|当了?)(?:一?[名个位])?(?P<value>[\u4e00-\u9fffA-Za-z]{{1,8}}(?:师|员|医生|教授|经理|"
        r"老板|护士|律师|司机|工人|农民|警察|军人|学生|公务员|大夫|编辑|记者|会计|程序员|厨师|助理|主管|总监|店长|模特|演员|歌手|秘书|前台|销售)"
        rf"|老师|医生|律师|学生|司机|警察|护士|会计|销售|前台|程序员){_END}",
        rf"{_START}{_WHO}(?:的)?(?P<changed>新)?(?:工作|职业)是{_VALUE}{_END}",
        rf"{_START}{_WHO}{_ADVERB}(?P<changed>改行做|转行做|改做|升(?:职)?为|升任|当上|被提拔为)了?{_VALUE}{_END}",
    ),
    "employer": (
        rf"{_START}{_WHO}{_ADVERB}{_NOT}在{_PLACE}(?:上班|工作|任职|就职)(?:了|的|啊|呀|呢)*$",
        rf"{_START}{_WHO}{_ADVERB}{_NOT}在{_PLACE}(?:做|当|担任|任)(?=[\u4e00-\u9fff]{{0,8}}(?:师|员|经理|总监|主管|助理|编辑|会计|销售|前台|实习生|总裁|秘书|顾问)$)",
        rf"{_START}{_WHO}{_ADVERB}(?P<past>从){_PLACE}(?:离职|辞职|跳槽|离开)了?(?:的|啊|呀)*$",
        rf"{_START}{_WHO}{_ADVERB}(?P<past>被){_PLACE}(?:裁员|裁掉|裁|辞退|开除|解雇)了?$",
        rf"{_START}{_WHO}{_ADVERB}(?P<changed>跳槽到|加入)了?{_PLACE}{_END}",
    ),
    "school": (
        rf"{_START}{_WHO}{_ADVERB}{_NOT}在{_PLACE}(?:上学|读书|念书|读大学|上大学|念大学|读研)(?:了|的|啊|呀|呢)*$",
        rf"{_START}{_WHO}{_ADVERB}(?:是|就读于)(?P<value>[\u4e00-\u9fff]{{2,10}}(?:大学|学院|中学|大))(?:的|啊|呀)*$",
    ),
    "grade": (
        rf"{_START}{_WHO}{_ADVERB}(?:是|上|读|在读)?(?P<value>大[一二三四]|高[一二三]|初[一二三]|研[一二三]|[一二三四五六]年级)(?:了|的|啊|呀|学生)*$",
    ),
    "major": (
        rf"{_START}{_WHO}{_ADVERB}(?:是)?学的?(?:是)?(?P<value>(?![会了到过着习生校历期])[\u4e00-\u9fff]{{2,8}}?)(?:专业的?|的)(?:啊|呀)*$",
        rf"{_START}{_WHO}(?:的)?专业是{_VALUE}{_END}",
    ),
    "favourite": (
        rf"{_START}{_WHO}{_ADVERB}最(?:喜欢|爱|喜爱)的(?P<what>[\u4e00-\u9fff]{{1,5}}?)(?:一直|还|就)*是{_VALUE}{_END}",
        rf"{_START}{_WHO}{_ADVERB}最(?:喜欢|爱)(?P<what>吃|喝|看|听|玩|去)?(?!的){_VALUE}{_END}",
    ),
}
