### The page of all deployments: its picture, its tables and the numbers of its sentences.

s0-plans-for-r1 =
    .en = S0: plans for R1
    .zh = S0：R1 的部署方案

s1-plans-for-v3 =
    .en = S1: plans for V3
    .zh = S1：V3 的部署方案

s2-measured =
    .en = S2: measured
    .zh = S2：实测

s3-measured =
    .en = S3: measured
    .zh = S3：实测

all-deployments-they-can-be =
    .en = All deployments; they can be sorted and filtered
    .zh = 全部部署，可排序、筛选

computed-as =
    .en = model, computed as
    .zh = 计算所用模型

token-s-printed =
    .en = token/s, printed
    .zh = token/s，文档

# number: the intervals of all answers
derived-if-memory-sufficed =
    .en = derived, if memory sufficed (80%)
    .zh = 推导，假设显存足够（80% 区间）

other-deployments =
    .en = The other deployments
    .zh = 其余部署
