"""Statements of what a person does for a living, which name the occupation and rarely the word "job"."""

import re

_NONE = (
    "sister|brother|mother|father|daughter|granddaughter|grandmother|grandfather|stepmother|stepfather|elder|other"
    "|stranger|member|customer|user|number|letter|winter|summer|matter|beginner|lover|believer|swimmer|smoker|drinker"
    "|sleeper|eater|owner|woman|human|tenant|participant|infant|giant|vegetarian|visitor|teenager|toddler|newcomer"
    "|foreigner|prisoner|survivor|winner|loser|follower|fighter|dreamer|thinker|listener|learner|outsider|neighbor"
    "|leader|joker|monster|computer|scooter|disaster"
)
_ENDED = "er|or|ist|ian|eer|ant|[a-z]{2}man|[a-z]{2}woman|smith|wright"
_NAMED = (
    "nurse|chef|cook|pilot|clerk|nanny|judge|attorney|architect|mechanic|surgeon|professor|principal|intern|trainee"
    "|apprentice|sysadmin|paramedic|analyst|dev|barista|coach|pharmacist|vet|monk|diplomat|mayor|nun|guide|host"
)
_OCCUPATION = rf"(?:[a-z][\w-]* ){{0,4}}?(?!(?:{_NONE})\b)(?:[a-z]+(?:{_ENDED})|{_NAMED}|(?-i:[A-Z]{{2,4}}))"
_AFTER = r"(?=[.,;!]|$| (?:at|in|for|with|on|by|out|here|and|from|since|now|there|these)\b)"
STATES_OCCUPATION = re.compile(
    r"(?:\b(?-i:I)(?:['’]m| am| was)|\b(?:he|she)(?:['’]s| is| was)|\b(?:my|our) [a-z]+(?: (?-i:[A-Z])\w+)? (?:is|was)"
    r"|\b(?-i:(?!(?:It|This|That|There|Here|What|Which)\b)[A-Z][a-z]+) (?:is|was)"
    r"|\b(?:works?|worked|working|trained|trains|training) as|\b(?:became|become))"
    rf" (?:(?:now|still|currently|only|also|just|really|actually) )?(?:an?|the) {_OCCUPATION}{_AFTER}"
    r"|(?:是|当了?|做|干|搞)(?:一?[名个位])?[^，。！？,!?的是]{0,8}?"
    r"(?:[^老导][师员]|[电焊木瓦漆钳技矿农]工|歌手|作家|画家|专家|厨子|记者|医生|大夫|护士|经理|总监|老板|警察|司机|会计|教授|编辑|保姆"
    r"|[店院校厂船机组]长|助理|运维|前端|后端|测试|销售|客服|中介|程序|律师|保安|农民|军人|法官|公务员)(?:的)?(?=[，。！,!；]|$|[，、]?在|出身)"
    r"|[开经]了?营?着?一?[家间]了?[^，。！,!]{0,10}(?:店|馆|厂|超市|公司|铺|民宿|工作室|诊所)"
    r"|\ban? (?:[a-z-]+ ){0,3}teacher\b|[是当做][^，。的]{0,6}(?:老师|教师)(?=[，。！,!]|$)",
    re.IGNORECASE,
)
"""A person is a nurse, works as a welder, or runs a shop."""
EMPLOYED_BY = re.compile(
    rf"\b(?:am|['’]m|is|was|work|works|worked|working|as) (?:an? |the )?{_OCCUPATION} (?:at|for|with)"
    r" (?:the )?(?-i:[A-Z])"
    r"|\b(?:driv|work|fly|teach|cod|consult|freelanc|design|writ|cook|play|rid)(?:e|es|s|ing) for (?:the )?(?-i:[A-Z])",
    re.IGNORECASE,
)
"""An occupation with the name of an employer: an engineer at Otto, driving for Redline."""
REPORTS = re.compile(
    r"\b(?:I|we|do I|am I|I['’]m|do we) (?:\w+ )?report(?:ing)? to\b"
    r"|向[\u4e00-\u9fffA-Za-z ]{1,12}汇报|归[\u4e00-\u9fffA-Za-z]{1,6}管(?!理)|直属领导",
    re.IGNORECASE,
)
"""Names a superior by the relation alone: I report to Ines, 归小林管."""
