### One decode step over the layers, kernel by kernel.

all-reduce = all-reduce, each
boundaries = starting kernels
embedding = embedding's all-reduce
norms = norms and gates
host-gap = gap of the host
title = One decode step over the layers
about = A layer with experts and a dense layer, kernel by kernel on the card, on the links and on a second stream, and the step of { $step } as its { $layers } layers.
expert-layer = one layer with experts
dense-layer = one dense layer
links = the links
# number: the name of the stream
stream = stream 2
whole-step = the whole step: dense layers, layers with experts, head and gap
