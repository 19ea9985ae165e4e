### A burst of prompts on a line of time: what the card computes, and what each request waits for.

burst-of-prompts = { $prompts } 条 prompt 同时到达
course-of-burst = 首条 prompt 独占一步，其余装进 { $chunks } 块。首 token 在 { $soonest } 到 { $latest } 之间给出，平均 { $mean }。已有首 token 的请求要等最后一块做完，然后一起解码。
prompts-and-chunks = { $prompts } 条 { $tokens } token 的 prompt，每块 { $budget }
# number: the first prompt
cards-prompt-then-full-chunks = 卡上：prompt 1，然后装满的各块，然后解码
seconds = 秒
first-token = 首 token
waits-for-it = 等首 token
stalls = 停顿
decodes = 解码
