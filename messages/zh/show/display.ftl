### Output in two languages: the book keeps, of each pair, the one of the page it is on.

preface = 前言
performance-comparison = 性能对比分析
comparison-of-key-figures = 关键指标对比
suitable-uses = 场景适用性分析
performance-trade-offs = 性能权衡分析
performance-risks = 性能风险
hardware-risks = 硬件风险
mitigating-performance-risks = 性能风险缓解
mitigating-hardware-risks = 硬件风险缓解
risk-matrix = 风险评估矩阵
emergency-plan = 故障应急预案
cost-risks = 成本风险
mitigating-cost-risks = 成本风险缓解
title = 标题
appendix-b = 附录 B
appendix-c = 附录 C
unit = 单位
in-program = 程序中的名称
letters-of-this-page = 本页符号
document = 文档 { $source }
section = 第 { $numbers } 节
