"""Chinese names of persons, as patterns."""

SURNAME = (
    "[王李张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董萧曹袁邓许傅沈"
    "曾彭吕苏卢蒋蔡贾丁魏薛阎潘杜戴钟汪姜范姚谭廖邹陆崔邱秦顾侯邵孟尹黎]"
)
"""A common surname."""
TITLE = "(?:医生|大夫|老师|律师|教授|教练|经理|师傅|先生|女士|小姐|阿姨|护士)"
"""What follows a surname in an address."""
