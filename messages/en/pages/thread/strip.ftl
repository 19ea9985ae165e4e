### The strip at the top of every derivation: one request, chapter by chapter.

thread = One request through the book
title = One request: R1 on eight H200 under { $engine }, { $input } tokens in, { $output } out
in-calculators = The same request in the calculators
parameters-held = parameters in the model
parameters-used = of them used in computing a token
share-used = of the model does the work for a token; all of it takes up memory
weights = weights on each of the eight cards
cache-of-prompt = KV cache of the prompt, on every card
cache-at-end = KV cache at the last token
read-per-token = read by each card for one output token
flops-of-prompt = for the prompt, all cards together
flops-of-token = computed for one output token, padding rows of tiles included
intensity = operations per byte read while decoding
ridge = needed in FP8 before arithmetic, not memory, limits the card
collectives = all-reduces per step
message = that a card contributes to each, for one token
sent-time = spent in them and a gather of the logits, { $share } of a step of { $step }
prompt-step = for the step that processes the whole prompt
token-step = for the step of one output token
floor = at least, to read weights and cache once: { $share } of the step
alone = while it runs alone
together = for { $users } users of the book's standard load ({ $prompt } tokens in, { $answer } out on average, lengths that vary) with the same settings: { $engine }, no MTP; the chapter on monitoring has shorter answers, all alike
places = such requests have room in the cache at once
ceiling = at most for one request, if reading at the bandwidth that kernels reach took all of the time
# number: the intervals of all answers
interval = 80% interval of the time per token
ttft = to the first token (TTFT)
tpot = per further token (TPOT)
e2e = to the last token
joules = drawn by the eight cards meanwhile
cents = { $cents } US cents
money = for eight owned cards that serve nobody else meanwhile
