"""Chinese names of persons, as patterns."""

SURNAME = (
    "[王李张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董萧曹袁邓许傅沈"
    "曾彭吕苏卢蒋蔡贾丁魏薛阎潘杜戴钟汪姜范姚谭廖邹陆崔邱秦顾侯邵孟尹黎]"
)
"""A common surname that seldom begins another word."""
TITLE = "(?:医生|大夫|老师|律师|教授|教练|经理|师傅|先生|女士|小姐|阿姨|护士)"
"""What follows a surname in an address."""
ADDRESSED = f"(?:{SURNAME}|[高马叶于田余夏熊毛万雷陶贺毕郝庄欧柳季乔温钱])(?={TITLE})"
"""The surname in an address: before a title also those that are words, but end no other: 对方律师, 历史老师."""
