### What verdicts are called, and where what decides a claim stands in the book.

reproduced =
    .en = reproduced
    .zh = 可复现

met =
    .en = met
    .zh = 满足

of-statement =
    .en = { $ours }; claimed: { $limit }
    .zh = { $ours }（原文称 { $limit }）

within-our-interval =
    .en = within the interval
    .zh = 在区间内

specification =
    .en = specification
    .zh = 规格

arithmetic-error =
    .en = arithmetic error
    .zh = 算术错误

wrong-input =
    .en = wrong input
    .zh = 输入错误

wrong-formula =
    .en = wrong formula
    .zh = 公式错误

wrong-input-and-formula =
    .en = wrong input and formula
    .zh = 输入与公式均错

infeasible =
    .en = infeasible
    .zh = 部署不可行

threshold =
    .en = threshold
    .zh = 阈值

assumption =
    .en = assumption
    .zh = 假设

unverifiable =
    .en = unverifiable
    .zh = 无法核实

wrong-number =
    .en = wrong number
    .zh = 数值错误

gb-for-gib =
    .en = GB for GiB
    .zh = GB 实为 GiB

contradicted =
    .en = contradicted
    .zh = 自相矛盾

always-fires =
    .en = always fires
    .zh = 一直告警

may-fire =
    .en = may fire
    .zh = 可能误报

sound =
    .en = sound
    .zh = 合理

never-fires =
    .en = never fires
    .zh = 从不触发

too-late =
    .en = too late
    .zh = 过迟

accepted =
    .en = accepted
    .zh = 有效

deprecated =
    .en = deprecated
    .zh = 已弃用

unlisted-value =
    .en = unlisted value
    .zh = 取值未列出

no-such-choice =
    .en = no such choice
    .zh = 无此选项

wrong-type =
    .en = wrong type
    .zh = 类型不符

no-such-setting =
    .en = no such setting
    .zh = 无此设置

no-catalogue =
    .en = program not in the catalogue
    .zh = 未收录该程序

works =
    .en = works
    .zh = 有效

as-by-default =
    .en = as by default
    .zh = 即默认

read-by-nothing =
    .en = read by nothing
    .zh = 无程序读取

stops-the-program =
    .en = stops the program
    .zh = 无法启动

worse-than-without =
    .en = worse than without
    .zh = 不如不设

misses-its-aim =
    .en = misses its aim
    .zh = 达不到目的

measured-with-it =
    .en = measured with it
    .zh = 实测所用

depends =
    .en = depends
    .zh = 视环境而定

holds =
    .en = holds
    .zh = 成立

does-not-hold =
    .en = does not hold
    .zh = 不成立

cannot-be-decided =
    .en = cannot be decided
    .zh = 无法判定

with-what-else =
    .en = { $name }: { $also }
    .zh = { $name }：{ $also }
