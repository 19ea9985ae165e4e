### A prompt through two pools: its prefill, the transfer of its cache, its decode, in time.

prompt-through-pools = A prompt through two pools
course-of-prompt = The prefill pool computes the prompt in { $prefill }. Its cache crosses the network in { $sent }. Decode steps of { $step } go on meanwhile, and the request joins them { $joins } after its start.
tokens-and-requests = prompt of { $tokens } tokens, { $requests } requests decoding
prefill-pool = prefill pool: { $time }, then the next prompt
transfer = transfer of the KV cache: { $time }
decode-pool = decode pool: steps of { $time }, never interrupted
filled-and-outlined = filled: this request; outlined: others only
seconds-from-start = seconds from the start of its prefill
