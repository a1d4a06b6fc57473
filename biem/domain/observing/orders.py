"""Orders for every time: what a user always or never wants of the assistant, in English and Chinese."""

import re

from biem.domain.observing.patterns import LEAD

ACT = (
    "use|write|add|include|show|give|put|start|begin|keep|avoid|explain|answer|reply|respond|tell|ask|mention|cite"
    "|list"
    "|format|name|check|run|say|call|make|leave|end|translate|summari[sz]e|mark|sort|limit|stick to|don't"
    "|do not|never|always"
)
DOES = "delete|remove|share|send|change|touch|overwrite|reveal|disclose|open|commit|push|publish|post|deploy|merge"
FORMS = (
    "emojis?|bullet points?|jargon|hashtags?|exclamation (?:marks?|points?)|disclaimers?|apologies|abbreviations|slang"
    "|headings|tables|markdown|semicolons|em dashes|small talk|pleasantries|honorifics"
)
"""How an answer is written, which is said once for all answers."""
SPOKEN = "repl(?:y|ies)|answers?|responses?|messages?|outputs?"
_NO_VERB = (
    "i|you|we|he|she|they|it|this|that|these|those|there|here|the|an?|my|your|our|his|her|its|their|(?:some|any|every"
    "|no)"
    "(?:body|thing|one)?|all|both|each|most|many|few|one|is|are|was|were|am|can|could|will|would|shall|should|may"
    "|might"
    "|must|do|does|did|has|have|had|be|who|what|when|where|why|how|which|if|because|so|but|and|or|then|than|as|at|in"
    "|on"
    "|of|to|for|from|with|by|about|into|over|under|after|before|until|not|maybe|perhaps|worry|hesitate|bother"
)
_ADVERBS = r"(?:(?:please|kindly|just|only|always|never|first) )*(?:(?:don't|do not) (?:ever )?)?"
COMMAND = _ADVERBS + r"(?!(?:" + _NO_VERB + r")\b)[a-z]{2,}\b"
"""Begins with a verb: no subject is named."""
_THEN = _ADVERBS + r"(?!(?:" + _NO_VERB + r")\b)(?-i:[a-z]{2,})\b"
"""The same behind a comma, where a name has a capital letter."""
_EACH = (
    r"(?:whenever|(?:every|each|any) ?time) (?:you|i) (?!\w+ed\b)|if i (?:ever )?(?:say|type|paste|ask|mention)\b"
    r"|when i (?:say|type|write|ask|paste|(?:send|give|show|tell) you|share|request|mention|name|quote|refer to"
    r"|bring up"
    r"|post|upload)\b|when you (?:write|reply|answer|talk|respond|speak|explain|summari[sz]e|translate|suggest"
    r"|recommend"
    r"|quote|format)\b"
)
"""What happens again and again between the two."""
_CONVENIENT = (
    r"[^,]*\b(?:time|times|chance|moment|minute|free|ready|done|finished|like|want|wish|can|could|need|feel|get)\b"
)
_DEICTIC = r"(?!.*\b(?:this (?:time|once|one)|today|tonight|right now|just now)\b)"
NO_ORDER = re.compile(
    r"^\W*(?:always|never|(?:don't|do not) ever) \w+\W*$|^\W*(?:don't|do not) ever (?:quit|give up|stop|lose|change"
    r"|doubt)\b|^\W*always (?:an?|the|here|there|good|great|nice|happy"
    r"|glad|up|fun|ready|so|in"
    r"|on|worth|something|nothing|\w+ing)\b|^\W*never (?:give up|say never|too late|again|ever(?! (?:"
    + ACT
    + r")\b)|gets? old|saw|seen|felt"
    r"|met|did|in (?:my|a|our) (?:\w+ )?(?:life|years?))\b|^\W*always (?:has|have|will|does|is|are)\b"
    # The words of a song or a saying
    r"|^\W*(?:always|never) (?:gonna|going to)\b|^\W*记住.{1,12}(?:真|太|很|好)难"
    r"|^\W*记得(?:那[个年时些次天]|当[时年]|小时候|以前)"
    r"|^\W*never (?:underestimate|judge an?|trust an?)\b|.*, ?(?:(?:the|my|our|a) )?\w+(?: \w+)? "
    r"(?:said|says|told|wrote)\b[^,]{0,20}$|.*[，,][^，,。]{1,8}[说讲写]的\W*$|^\W*going forward (?:is|was|looks"
    r"|seems|sounds)\b"
    r"|.*\b(?:as the (?:old )?(?:song|saying|lyrics?|poem|proverb)|(?:song|lyrics?|slogan|motto|proverb)\W*$)"
    r"|^\W*(?:always|never)\b.*,? as (?:they|the \w+) (?:say|sing)s?\W*$|^\W*(?:always|never)\b.*\b(?:is|are|was|were"
    r"|got) stuck in my\b"
    r"|^\W*(?:from now on|going forward|henceforth|in (?:the )?future),? (?:things?|it|we|they|everything|life|he|she"
    r"|the|this|there|i(?! (?:want|need|expect|would like|prefer))|i'(?:ll|m|ve)"
    r"|(?!please|always|never|do|don't|you)[\w ]{1,30}? (?:will|is|are|may|might|could|would))\b"
    # The heading of a pasted prompt
    r"|^\W*(?:(?:general|special|additional) )?(?:instructions?|requests?)\s*:"
    # Of this once, and what the speaker intends
    r"|^\W*(?:绝对|千万|永远|一定|别|不要)(?:不要|别|不能|不)?(?:再)?(?:错过|忘|放弃|灰心|怀疑|担心|客气|着急|难过"
    r"|生气)"
    r"|^\W*[你您]?(?:以后|今后|将来)(?:就?会|能|可以)|^\W*永远不要[^，。]{0,6}(?:自己|别人|生活|梦想|希望|爱)"
    r"|^\W*(?:以后|今后|将来)(?:的|就是)?(?:事|路|下坡|日子|生活|人生|时间)"
    r"|^\W*(?:请|麻烦)?(?:你|您)?务必(?!.*(?:每次|每回|以后|今后|总是|一律|所有|任何|都))"
    r"|^\W*(?:以后|今后|将来)(?:可能|大概|估计|说不定|有(?:机会|空|时间|钱)|[你您][就会]|再也|我|他|她|咱|再说|吧|还"
    r"|会|我们(?:再|会|还)"
    r"|[要得]?[多少]|需|要注意|得|应该|可以|打算|准备|想|家里)"
    r"|^\W*从现在(?:起|开始)[，,]?(?:倒计时|倒数|计时|算)|^\W*(?:别再|不要再)(?:[^，。]*(?:了吧|下雨|下雪)"
    r"|[^，。]{1,3}了\W*$)"
    # What something requires, or another person's rule
    r"|^\W*(?!(?:我|咱|对你|给你|对您|给您|新|一条|几条|要求|规矩|规则|规定))[^，。：:]{1,8}(?:要求|规矩|规则"
    r"|规定)[^，。：:]{0,6}[：:]",
    re.IGNORECASE,
)
STANDING = re.compile(
    LEAD + r"(?:please )?(?:"
    # Each time something happens
    r"(?:"
    + _EACH
    + r")(?!"
    + _CONVENIENT
    + r")[^,]{2,60}, (?:"
    + _THEN
    + r"|i (?:want|expect|need)\b)"
    + _DEICTIC
    # From now on
    + r"|(?:from (?:now|today|here|this (?:day|point)) on(?:wards?| out| in)?|(?:in|for) (?:all |any |every )?future "
    r"[^,]{2,30}(?=,)|for the rest of (?:this|our|the) [\w ]{3,30}(?=,)),? "
    + _THEN
    + r"|"
    + COMMAND
    + r"[^,]{2,60}\b(?:from (?:now|today) on(?:wards?)?|unless i (?:ask|say|request|tell|want)"
    r"\b.{0,40}|at all times)\W*$"
    r"|" + COMMAND + r"[^,]{1,40} before you [a-z]+ (?:any|anything|every|each)\b"
    r"|(?:don't|do not|stop|always) [^,]{2,60} (?:every|each) (?:single )?time\W*$"
    r"|i (?:don't|do not|never) want (?:to see )?[^,]{2,30} in (?:any of )?your (?:" + SPOKEN + r")\b"
    r"|only (?:recommend|suggest|propose|offer) (?!it\b|this|that)\w|(?:don't )?address me (?!to\b|as\b|by\b)\w"
    r"|"
    + COMMAND
    + r"[^,]{2,40} (?:all|any|every|each|whatever)\b[^,]{0,40} you (?:write|send|show|give|make|generate|suggest)\b"
    r"|(?:make sure|be sure|ensure)(?: that)? (?:you|to) (?:always|never)\b"
    r"|you (?:must|should|shall|are to|have to|need to) (?:always|never) (?!(?:be|have|feel|think|give|trust|judge"
    r"|forget"
    r"|underestimate|lose|believe|let|stop|help|follow|say never)\b)[a-z]{2,}\b(?!.*\b(?:yourself|your)\b)"
    r"|make it a (?:rule|habit|point)(?: of yours)? to \w"
    r"|(?:don't|do not) (?:ever )?(?:" + DOES + r"|edit|modify|rename|drop|move)\b(?! (?:it|that"
    r"|this)\b)[\w ./-]{0,40}"
    r"\b(?:folders?|director(?:y|ies)|files?|branch(?:es)?|databases?|tables?|configs?|configuration|repo(?:sitory)?"
    r"|schema|migrations?|main|master|production|prod|secrets?|passwords?|backups?)\b(?!.*\b(?:yet|now|today"
    r"|this time)\b)"
    r"|(?:don't|do not) use (?!that|this|it|me)[\w ]{2,30} (?:with|to) me\b"
    r"|under no circumstances (?:should you |are you to |may you )?(?:" + ACT + "|" + DOES + r")\b"
    r"|(?:don't|do not) (?:mention|bring up|talk about|ask(?: me)? about|discuss|" + ACT + r")\b"
    r"(?! (?:it|that|this|so|anything)\b)[^,]{2,50}\b(?:again|any ?more|ever)\W*$"
    r"|(?:don't (?:use|add|write|include)|avoid|stop (?:using|adding|writing|including))\b[^,]{0,20}"
    r"\b(?:" + FORMS + r")\b(?!.*\b(?:here|this time|today|in (?:this|the) \w+)\b)"
    r"|no more (?!of|than)\w[\w ]{1,20},? please\W*$|no (?:more )?(?:\w+ )?(?:"
    + FORMS
    + r")(?:,? please|,? in (?:your|the) \w+)+\W*$"
    r"|i(?:'d like| want| need| would like) you to (?:always|never|.{2,60}\bfrom now on\W*$)"
    # In everything that is said from now on
    r"|(?:"
    + ACT
    + r"|stop)\b.{2,60}\b(?:(?:in|with|for|of|throughout) (?:all|every|each|any)(?: of your| future)? (?:"
    + SPOKEN
    + r")|in (?:anything|everything|whatever) you (?:write|say|send)|from here on(?: out)?)\b"
    r"|(?:keep|limit|make|format|end|start|begin|structure|write) (?:(?:all )?(?:of )?your (?:future )?(?:replies"
    r"|answers|responses|explanations|summaries)|(?:all|every|each) (?:reply|replies|answers?|responses?|explanations?"
    r"|summar(?:y|ies)))\b(?! to yourself)"
    r"|refrain from \w+ing\b|stop calling me (?!at|on|in|when|so|every|all|from|about|names)\b\w"
    r"|(?:by default|as a default),? (?:please )?(?:"
    + ACT
    + r")\b|only ever (?:"
    + ACT
    + r"|suggest|recommend|propose)\b"
    r"|(?:answer|reply|respond|speak|write|talk)(?: to me)? (?:only|exclusively|always) in (?!the|this|that)\w+\W*$"
    r"|(?:don't|do not|never) use (?:the )?(?:words?|phrases?|terms?|expressions?)\b"
    r"|(?:don't|do not) (?:ever )?(?:wrap|reformat|rewrite|rename|touch|edit|shorten|translate|correct|autocorrect) my"
    r" (?:lines?|code|files?|branch(?:es)?|texts?|messages?|config\w*|names?|notes?|documents?|docs?|tables?|settings?"
    r"|data)\b(?! (?:yet|now|today))"
    r"|"
    + COMMAND
    + r"(?! (?:me|it|that|this|the)\b)[^,]{2,50}\bwhen(?:ever)? you (?:write|reply|answer|talk|respond|speak|explain"
    r"|summari[sz]e)\b"
    r"|(?:make sure|ensure)(?: that)? (?:every|each) [\w ]{2,40} (?:has|have|uses?|starts?|ends?|includes?|contains?"
    r"|comes? with)\b"
    r"|(?:every|each|all) (?!of\b|these\b|those\b|the\b|my\b)[\w ]{2,40} (?:must|ha(?:ve|s) to|needs?|should)"
    r"\b[^,]{2,40} from (?:now|today)(?: on(?:wards?)?)?\W*$"
    r"|(?:every|each|all) (?!of\b|these\b|those\b|the\b|my\b)[\w ]{2,40} must"
    r" (?:(?:always|never) )?(?:(?:start|begin|end|use|follow"
    r"|include|contain|pass|carry|have an?)\b|be (?:written|named|formatted|signed|reviewed|tested|documented|kept"
    r"|stored|approved|typed)\b)"
    r"|stop \w+ing\b.{0,20} in your (?:"
    + SPOKEN
    + r")\b|in (?:all )?(?:my|your) [\w ]{2,25},? (?:always|never) (?:"
    + ACT
    + r")\b"
    r"|no [\w -]{3,30} in (?:my|our) (?:files?|code|repo\w*|docs?|documents?|commits?)\b"
    r"|i(?:'d like| want| need| would like) you to (?:address|speak to|talk to) me\b(?! (?:about|now|today))"
    r"|(?:(?:don't|do not) (?:suggest|recommend|propose)|stop (?:suggest|recommend|propos)ing)"
    r" (?!it\b|that\b|this\b)\w)",
    re.IGNORECASE,
)
STANDING_ZH = re.compile(
    r"^\W*(?:请|麻烦|另外|还有|对了|[你您]的?|[，,：:\s])*(?:"
    r"(?:始终|一律|统一|(?<=请)一直)(?:用|使用|按|以|采用|不要|别)|(?<=请)始终保持"
    # Each time something happens
    r"|(?:每次|每回|每当|每逢|凡是?|但凡)(?![他她它一])[^。他她它]{2,20}?(?:[，,](?:你|您|都|就)?(?:请|先|只|别|不要"
    r"|不许|直接|记得|麻烦"
    r"|必须|一律|务必|尽量|要(?!命|死|疯))|(?<=前)(?:都)?先|一律|必须|都(?:请|不要|别|必须|一定要))"
    r"|(?:每次|每回|每当|凡是)(?:写|回答|回复|生成|输出|提交|修改|改动?|推荐|总结|翻译|引用|解释|命名|给我|上线|部署"
    r"|发布"
    r"|合并|运行|推送)[^，,。我他她]{0,12}?都[要得](?!.*(?:到|很久|半天|好久|等|花))"
    r"|(?:每次|每回)[^，,。我你他她]{1,8}都[要得](?:写|说明|注明|标|附|列|避开|跳过)"
    r"|每[份条封篇段页][^，,。我你他她了]{1,10}都(?:要|必须|得)?(?:[写用加带附放标以按]|控制|保持)(?!了)"
    r"|(?:[给帮替]我)?(?:回答|回复|写代码|写邮件|写文档|推荐|总结|翻译|解释)[^，,。我他她]{0,8}(?:时|的时候)[，,]?"
    r"(?:请|都要|要|先|不要|别|必须|一律|尽量)"
    r"|(?:每当|当|如果)?我(?:提到|问到?|说到?|发(?:给你)?|贴出?|给你看?"
    r"|[发传给][^，,。他她了过]{1,8}给你)[^，,。我你他她了过]{0,14}"
    r"(?:时|的时候)[，,]?(?:你|就|都)*(?:请|别|不要|只|先|直接|表示|就?[是指](?=指|我)|[给帮]我"
    r"|[^，,。我他她]{1,6}就(?:够|行|好|可以))"
    r"|我[^，,。你您他她它了过]{1,8}(?:时|的时候)[，,]?(?:都)?(?:请|不要|不许)(?!紧|我)"
    r"|(?:不要|别|不许|不得|禁止)把[^，,。我你他她]{1,10}(?:提交|上传|推送|合并|写[进入到]|发[到给]|存[到进])(?!了)"
    r"|(?:不要|别)(?:再)?[对跟和]我用(?!这|那)|从今以后[，,]?(?![我他她咱你您])"
    r"|(?:[^，,。我你他她]{0,2}我的[^，,。]{1,6})?(?:没有|没"
    r"|未经)[^，,。]{0,8}(?:允许|同意|许可|批准|确认|评审"
    r"|授权)[，,]?(?:之?前)?(?:都)?"
    r"(?:不要|别|不得|不许|不能|不可|禁止)|(?:不要|别|不许|不得|禁止)(?:再)?(?:动|碰|删除?|修改|改动?|覆盖|提交"
    r"|推送|部署|重命名|移动)"
    r"[^，,。我你他她了]{0,8}(?:文件|目录|分支|数据库|数据表|配置|仓库|密钥|密码|生产环境|线上|备份)"
    r"|[^，,。我你他她]{0,6}任何[^，,。我他她]{1,8}之?前[，,]?(?:都)?(?:请|要|必须|务必)?先(?!生)"
    r"|(?:除非我(?:问|说|要求|让|同意)|我?[不没](?:问|说|要求)(?:时|的时候|的话|就)?)[^，,。他她]{0,4}[，,]?(?:请|就"
    r"|否则)?(?:不要|别)(?!紧)"
    r"|(?:别|不要)[^，。他她了]{1,15}[，,]除非我(?:问|说|要求|让|同意)"
    r"|(?:别|不要)(?:再)?(?:叫|称呼)我(?!起|去|来|吃|走|等)|只(?:推荐|建议|介绍)(?![这那了])"
    r"|[^，,。我你他她这那]{1,6}(?:一定要?|必须|务必)"
    r"(?:注明|写明|标明|标注|附上)"
    r"|(?:不管|无论|不论)[^，,。我他她它]{1,12}[，,]?都(?:(?:不要|别|不许|不准|不得)(?!放弃|灰心|怕|慌|忘)|要先|必须先"
    r"|请(?!假))"
    r"|任何时候都(?:不要|别|不能|不许|不得|要(?=先|用))|(?:不要|别|不许|不得)(?:擅自|私自|随意|自行|自作主张)"
    r"|(?:不要|别)直接(?:推送|提交|删除?|修改|部署|运行|执行|覆盖|合并|发送|调用)|(?:不要"
    r"|别)(?:再)?用[^，,。]{1,8}(?:称呼|叫)我"
    r"|从?下次(?:开始|起)[，,]?(?!之前|时)[^，,。我他她]{0,12}(?:都|请|不要|别|要|用)|(?:往后|接下来|此后)"
    r"(?!几|的|[看走退靠])[^，,。几我会]{0,10}(?:都(?!是|没|不|很|好)|请|别|不要|帮我)"
    r"|(?:代码|回答|回复|邮件|文档|注释|报告)(?:里面?|中)?[^，,。我他她]{0,4}(?:禁止|不要(?!紧)|不许|必须|一律|尽量"
    r"|控制在|都[用写按要])"
    r"|[^，,。我你您他她它们]{1,10}(?:一律(?!平等|免费|半价|无效|有效|作废|[打八九]折|[是了])"
    r"|统一(?=[不用使按以写放由走先大小采禁要]))"
    r"|(?:所有|全部|任何|每个|每一个)(?!人|时候|东西|注意|精力|时间|事|目光)[^，,。我你您他她]{1,10}(?:都|一律"
    r"|均)?(?:必须|都要(?!求)|都得|都?按)(?!时)"
    r"|(?:回答|回复)我(?:的问题)?(?:时|的时候)?[，,]?(?:请|尽量|务必|要|不要|别)"
    r"|[跟和对]我(?:说话|讲话|聊天|沟通)(?:时|的时候)?[，,]?(?:都)?(?:请|不用|不必|不要|别|直接|要|尽量|用)"
    r"|给我的[^，,。我他她]{1,10}(?:都|一律|必须)(?:要|得|用|带|加|写|按|附)"
    r"|从?下次(?:开始|起)[，,](?![我他她咱])[^，,。我他她]{2,}(?:加|写|用|放|改|按|附|先)"
    r"|[^，,。我你您他她]{2,10}(?:之前|以前|前)(?:都)?(?:一定要|必须|务必|都要|都得|要)(?:都)?先?(?:问我|问一下我"
    r"|告诉我|通知我"
    r"|[跟和]我(?:确认|说)|经过我|征求我)"
    r"|(?:不要|别)(?:再)?在(?:你的|给我的|所有)?(?:回答|回复|代码|注释|文档|邮件|提交信息|报告|消息)(?:里面?"
    r"|中)(?:再)?"
    r"(?:用|使用|写|加|出现|放|带|提)"
    r"|默认(?:都)?(?:给我|帮我|请)(?:用|使用|按|以|采用|输出|返回)|默认(?:都)?(?:用|使用|采用)(?![^，,。]*(?:的是|了))"
    r"|禁止(?:使用|推荐|出现))"
)
"""Orders for every time, in other words than `is_standing_order` knows, which also decides what is never forgotten."""
