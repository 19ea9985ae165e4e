### A burst of prompts on a line of time: what the card computes, and what each request waits for.

burst-of-prompts =
    .en = A burst of { $prompts } prompts
    .zh = { $prompts } 条 prompt 同时到达

course-of-burst =
    .en = The first prompt has a step of its own, the others fill { $chunks } chunks. First tokens come after { $soonest } to { $latest }, { $mean } on average. A request that has its first token waits until the last chunk is done, then all decode together.
    .zh = 首条 prompt 独占一步，其余装进 { $chunks } 块。首 token 在 { $soonest } 到 { $latest } 之间给出，平均 { $mean }。已有首 token 的请求要等最后一块做完，然后一起解码。

prompts-and-chunks =
    .en = { $prompts } prompts of { $tokens } tokens, chunks of { $budget }
    .zh = { $prompts } 条 { $tokens } token 的 prompt，每块 { $budget }

# number: the first prompt
cards-prompt-then-full-chunks =
    .en = the cards: prompt 1, then full chunks, then decode
    .zh = 卡上：prompt 1，然后装满的各块，然后解码

seconds =
    .en = seconds
    .zh = 秒

first-token =
    .en = first token
    .zh = 首 token

waits-for-it =
    .en = waits for it
    .zh = 等首 token

stalls =
    .en = stalls
    .zh = 停顿

decodes =
    .en = decodes
    .zh = 解码
