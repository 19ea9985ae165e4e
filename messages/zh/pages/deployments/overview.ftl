### The page of all deployments: its picture, its tables and the numbers of its sentences.

s0-plans-for-r1 = S0：R1 的部署方案
s1-plans-for-v3 = S1：V3 的部署方案
s2-measured = S2：实测
s3-measured = S3：实测
all-deployments-they-can-be = 全部部署，可排序、筛选
computed-as = 计算所用模型
token-s-printed = token/s，文档
# number: the intervals of all answers
derived-if-memory-sufficed = 推导，假设显存足够（80% 区间）
other-deployments = 其余部署
