### A table of a thousand rows that stays small: plain cells, an address for every row.

source = 依据
