### Write the ``.ipynb`` of the parameterised notebooks: ``python -m notebooks.derive.sync``.

deployment =
    .en = A deployment
    .zh = 一个部署

device =
    .en = A device
    .zh = 一张卡

model =
    .en = A model
    .zh = 一个模型

document-claim-by-claim =
    .en = A document, claim by claim
    .zh = 一份文档，逐条审计

search-from-goal-to-best =
    .en = Search: from a goal to the best deployment
    .zh = 搜索：从目标到最优部署

start-and-watch-from-plan =
    .en = Start and watch: from a plan to a service
    .zh = 启动与告警：从部署方案到上线服务

sensitivity-which-inputs-decide =
    .en = Sensitivity: which inputs decide
    .zh = 敏感性：结果取决于哪些输入

capacity-replicas-for-day-of =
    .en = Capacity: replicas for a day of users
    .zh = 容量规划：一天的用户要几个副本

# number: the smallest and the largest system of the page
scaling-from-eight-to-cards =
    .en = Scaling: from 8 to 384 cards
    .zh = 扩展：从 8 卡到 384 卡
