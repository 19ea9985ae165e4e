### Mechanisms as rows of tables: the priors of a class of devices, and those of a deployment.

peak-share-of-matmuls = share of the peak of matmuls with many rows
peak-share-of-grouped-matmuls = share of the peak of grouped matmuls with many rows per expert
peak-share-of-sliced-matmuls = share of the peak of grouped matmuls of TP-sharded experts
matmul-time-per-inner-element = additional fixed time of a matmul per element of its inner dimension
streaming-of-narrow-experts = share of the bandwidth at which weights of whole experts dequantised while read stream
streaming-of-narrow-slices = share of the bandwidth at which weights of TP-sharded experts dequantised while read stream
memory-of-host-system = host memory of the operating system and its services, per server
memory-of-host-processes = host memory of the engine's processes, per card
time-of-narrow-experts = fixed time of a layer's experts dequantised while read
peak-share-of-host-vectors = share of the vector peak of the host's expert kernels that widen blocks of few bits
counted-operators = counted operators
all-to-all-of-experts = all-to-all of experts
low-latency = low latency
inside-node = inside a node
between-nodes = between nodes
indexer = indexer
share-of-link = share of the link
time-per-expert = time per expert
time-per-token = time per token
tokens-of-buffers = tokens of the buffers
cache-of-16-bits = 16-bit cache
cache-of-fewer-bits = cache of fewer bits
operators-per-layer = operators per layer, mean of all layers
