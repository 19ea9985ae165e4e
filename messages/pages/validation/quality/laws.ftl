### Laws that hold of every deployment, in words.

stay-is-its-tokens =
    .en = A request takes as long as its first token and the others together.
    .zh = 一个请求的用时等于首 token 与其余 token 之和。

little =
    .en = Users are the rate of requests times the time from a question to the next (Little's law).
    .zh = 用户数等于请求率乘以相邻两次提问的间隔（Little 定律）。

no-more-than-decode =
    .en = Users get no more tokens than decode steps alone would bring.
    .zh = 用户得到的 token 不多于只做解码步所能给出的。

no-more-than-full-chunks =
    .en = No more prompts are worked on than by full chunks without a pause.
    .zh = 处理的 prompt 不多于分块全满且不停顿时所能处理的。

no-faster-than-front-end =
    .en = Requests come no faster than the front ends let them in.
    .zh = 请求不会快于各前端合计放行的速率。

room-where-blocks =
    .en = Requests fit exactly where the blocks of the cache hold them.
    .zh = 缓存块装得下时请求才装得下，反之亦然。

needed-and-left =
    .en = Memory needed and memory left add up to what is usable.
    .zh = 所需显存与剩余显存之和等于可用显存。

paid-as-cards =
    .en = What prompts and answers cost adds up to requests, and requests to cards.
    .zh = 输入与输出的成本合计为请求的成本，请求的成本合计为卡的成本。

day-of-tokens =
    .en = A day of tokens costs what the hours of its cards cost, added up by hand.
    .zh = 一天 token 的成本等于逐时累加的卡时成本。

share-by-card-seconds =
    .en = Prompts and answers share the cost as they share the seconds of the cards.
    .zh = 输入与输出按各自占用的卡时分摊成本。

another-currency =
    .en = In another currency every cost is the same amount.
    .zh = 换一种货币，各项成本的实际金额不变。

other-units =
    .en = In other units of time, bytes or operations every result is the same amount.
    .zh = 换用别的时间、字节或运算单位，各项结果的实际大小不变。

no-jumps =
    .en = A little more of an input moves nothing by much, between two steps of the engine.
    .zh = 在引擎的两级台阶之间，一个输入略增，结果不会突变。

no-time-at-no-bound =
    .en = If every rate is unbounded and nothing is paid besides, no step takes time.
    .zh = 各项速率无限大且没有固定开销时，一步不用时间。

paid-besides-is-left =
    .en = If every rate is unbounded, what is paid besides is left.
    .zh = 各项速率无限大时，只剩固定开销。

unbounded-storage =
    .en = From unbounded storage weights are loaded at once.
    .zh = 存储速率无限大时，权重加载不用时间。

unbounded-link =
    .en = An unbounded link moves a cache in the time that a message costs.
    .zh = 链路速率无限大时，传输缓存只用每条消息的固定时间。

all-in-the-cache =
    .en = Of a prompt that the cache holds whole, one token is computed.
    .zh = prompt 全部命中缓存时，只计算最后一个 token。

nothing-in-the-cache =
    .en = Of a prompt that the cache does not hold, all is computed.
    .zh = prompt 完全没有命中缓存时，全部计算。

always-accepted =
    .en = Drafts that are always accepted come all in one step.
    .zh = 草稿总被接受时，一步全部产出。

one-token =
    .en = A request for one token ends with its first.
    .zh = 只输出一个 token 的请求，首 token 出来即结束。

alone =
    .en = Who is alone sees in a steady state what a burst of one sees.
    .zh = 只有一个用户时，稳态与单请求的突发相同。

thinks-without-end =
    .en = Users who think without end come like independent ones.
    .zh = 思考时间无限长的用户，与独立到达的用户相同。

no-step-worse =
    .en = No step and no burst is worse for better parts.
    .zh = 部件变好，一步与一次突发都不会变差。

no-steady-state-worse =
    .en = No steady state is worse for better parts, beyond what the closed form is off by.
    .zh = 部件变好，稳态不会变差到超出闭式解的误差。

few-steady-states-worse =
    .en = No steady state is worse at all for better parts.
    .zh = 部件变好，稳态完全不会变差。

stored-larger =
    .en = What is stored larger takes no less memory and leaves no more room.
    .zh = 存储变大，所占显存不减，余量不增。

larger-card =
    .en = A larger card, or a larger share of it, leaves no less room.
    .zh = 显存更大，或可用比例更高，余量不减。

longer-contexts =
    .en = Longer contexts and more users take no less memory and leave no more room.
    .zh = 上下文更长、用户更多，所占显存不减，余量不增。

longer-prompt =
    .en = A longer prompt is no faster and no cheaper.
    .zh = 输入更长，不会更快，也不会更便宜。

longer-answer =
    .en = A longer answer is no faster and no cheaper.
    .zh = 输出更长，不会更快，也不会更便宜。

longer-requests =
    .en = In a steady state longer requests take no less time.
    .zh = 稳态下，请求更长，用时不减。

found-prefix =
    .en = A prefix found in the cache makes nothing slower or dearer.
    .zh = 命中前缀缓存，不会更慢，也不会更贵。

found-prefix-stay =
    .en = In a steady state a prefix found in the cache makes no request longer.
    .zh = 稳态下，命中前缀缓存，请求用时不增。

twice-the-users =
    .en = Of twice the users none is faster.
    .zh = 用户加倍，没有人更快。

twice-the-users-bring =
    .en = Twice the users bring no less throughput.
    .zh = 用户加倍，吞吐不减。

twice-the-users-stay =
    .en = In a steady state requests of twice the users take no less time.
    .zh = 稳态下，用户加倍，请求用时不减。

twice-the-users-steady =
    .en = In a steady state twice the users bring no less throughput.
    .zh = 稳态下，用户加倍，吞吐不减。

near-a-simulation =
    .en = The time per token of the closed form is near to that of a simulation.
    .zh = 闭式解的每 token 时间与仿真接近。

why-reversed =
    .en = A step with prompts is put together from differences of known steps, which grow where the part taken away gets faster.
    .zh = 混有 prompt 的一步由已知各步之差拼成；被减去的部分变快，差反而变大。

why-crowded =
    .en = All users are taken to decode, also those who wait for their prompts.
    .zh = 所有用户都按正在解码计，包括还在等待 prompt 处理的。

why-near =
    .en = The bound for near is what nearly all deployments keep, not every one.
    .zh = “接近”的界限取绝大多数部署能达到的程度，并非个个达到。

title =
    .en = Laws on random deployments
    .zh = 随机部署上的规律

amount =
    .en = { $laws } laws, { $cases } trials
    .zh = { $laws } 条规律，试验 { $cases } 次

told =
    .en = broken { $broken } times, { $other } of these unexplained
    .zh = 违反 { $broken } 次，其中 { $other } 次没有解释
