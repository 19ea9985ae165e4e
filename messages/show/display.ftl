### Output in two languages: the book keeps, of each pair, the one of the page it is on.

preface =
    .en = preface
    .zh = 前言

performance-comparison =
    .en = performance comparison
    .zh = 性能对比分析

comparison-of-key-figures =
    .en = comparison of key figures
    .zh = 关键指标对比

suitable-uses =
    .en = suitable uses
    .zh = 场景适用性分析

performance-trade-offs =
    .en = performance trade-offs
    .zh = 性能权衡分析

performance-risks =
    .en = performance risks
    .zh = 性能风险

hardware-risks =
    .en = hardware risks
    .zh = 硬件风险

mitigating-performance-risks =
    .en = mitigating performance risks
    .zh = 性能风险缓解

mitigating-hardware-risks =
    .en = mitigating hardware risks
    .zh = 硬件风险缓解

risk-matrix =
    .en = risk matrix
    .zh = 风险评估矩阵

emergency-plan =
    .en = emergency plan
    .zh = 故障应急预案

cost-risks =
    .en = cost risks
    .zh = 成本风险

mitigating-cost-risks =
    .en = mitigating cost risks
    .zh = 成本风险缓解

title =
    .en = title
    .zh = 标题

appendix-b =
    .en = appendix B
    .zh = 附录 B

appendix-c =
    .en = appendix C
    .zh = 附录 C

unit =
    .en = unit
    .zh = 单位

in-program =
    .en = in the program
    .zh = 程序中的名称

letters-of-this-page =
    .en = The letters of this page
    .zh = 本页符号

document =
    .en = Document { $source }
    .zh = 文档 { $source }

section =
    .en = section { $numbers }
    .zh = 第 { $numbers } 节
