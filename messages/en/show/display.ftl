### Output in two languages: the book keeps, of each pair, the one of the page it is on.

preface = preface
performance-comparison = performance comparison
comparison-of-key-figures = comparison of key figures
suitable-uses = suitable uses
performance-trade-offs = performance trade-offs
performance-risks = performance risks
hardware-risks = hardware risks
mitigating-performance-risks = mitigating performance risks
mitigating-hardware-risks = mitigating hardware risks
risk-matrix = risk matrix
emergency-plan = emergency plan
cost-risks = cost risks
mitigating-cost-risks = mitigating cost risks
title = title
appendix-b = appendix B
appendix-c = appendix C
unit = unit
in-program = in the program
letters-of-this-page = The letters of this page
document = Document { $source }
section = section { $numbers }
