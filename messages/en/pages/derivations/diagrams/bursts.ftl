### A burst of prompts on a line of time: what the card computes, and what each request waits for.

burst-of-prompts = A burst of { $prompts } prompts
course-of-burst = The first prompt has a step of its own, the others fill { $chunks } chunks. First tokens come after { $soonest } to { $latest }, { $mean } on average. A request that has its first token waits until the last chunk is done, then all decode together.
prompts-and-chunks = { $prompts } prompts of { $tokens } tokens, chunks of { $budget }
# number: the first prompt
cards-prompt-then-full-chunks = the cards: prompt 1, then full chunks, then decode
seconds = seconds
first-token = first token
waits-for-it = waits for it
stalls = stalls
decodes = decodes
