### Write the ``.ipynb`` of the parameterised notebooks: ``python -m notebooks.derive.sync``.

deployment = 一个部署
device = 一张卡
model = 一个模型
document-claim-by-claim = 一份文档，逐条审计
search-from-goal-to-best = 搜索：从目标到最优部署
start-and-watch-from-plan = 启动与告警：从部署方案到上线服务
sensitivity-which-inputs-decide = 敏感性：结果取决于哪些输入
capacity-replicas-for-day-of = 容量规划：一天的用户要几个副本
# number: the smallest and the largest system of the page
scaling-from-eight-to-cards = 扩展：从 8 卡到 384 卡
