### Switches that the source of an engine or a library names, and where it does.

# number: of the source
triton-tiles-by-tokens =
    .en = Triton: tiles of 16 rows up to 64 tokens, of 64 beyond
    .zh = Triton：64 个 token 以内用 16 行的分块，以上用 64 行

# number: of the source
triton-tiles-by-experts =
    .en = Triton: tiles of 16 rows up to as many tokens as experts, of 64 beyond
    .zh = Triton：token 数不超过专家数时用 16 行的分块，以上用 64 行

# number: of the source
marlin-blocks =
    .en = Marlin: blocks of 8, 16, 32, 48 or 64 rows, by the rows of an expert
    .zh = Marlin：按每专家行数取 8、16、32、48 或 64 行的块

# number: of the source
deepgemm-tiles =
    .en = DeepGEMM: tiles of 64 rows up to 64 rows, of 128 beyond
    .zh = DeepGEMM：64 行以内用 64 行的分块，以上用 128 行

# number: of the source
custom-all-reduce-rounds =
    .en = custom all-reduce: in two rounds from 256 KiB on eight ranks, 512 KiB on four
    .zh = 自定义 all-reduce：8 个 rank 自 256 KiB、4 个 rank 自 512 KiB 起分两轮

# number: of the source
custom-all-reduce-or-nccl =
    .en = custom all-reduce up to 8 MiB, NCCL beyond
    .zh = 8 MiB 以内用自定义 all-reduce，以上用 NCCL

# number: of the source
trtllm-gen-heads =
    .en = trtllm-gen: operands swapped up to 16 heads, another kernel beyond
    .zh = trtllm-gen：16 个头以内交换操作数，以上用另一算子
