### ``simulate``: users in front of a deployment, step by step, with the runtime's step times.

# number: an example
help-rate =
    .en = mean rate of independent arrivals, e.g. 2 (per second)
    .zh = 独立到达的平均速率，例如 2（每秒）

help-users =
    .en = users who each wait for an answer and ask again
    .zh = 用户数，各自得到回答后再次提问

# number: an example
help-duration =
    .en = time in which requests arrive, e.g. '10 min'
    .zh = 请求到达的时长，例如 '10 min'

help-requests =
    .en = how many requests ({ $requests } by default, and { $turns } of each user at least)
    .zh = 请求总数（缺省 { $requests }，且每用户至少 { $turns } 个）

# number: an example
help-think-time =
    .en = of a user between an answer and the next question, e.g. '5 s'
    .zh = 用户从得到回答到下一次提问的间隔，例如 '5 s'

help-begin =
    .en = of users: at any moment of one cycle, from a question to the next (by default), or all at once, as in a burst
    .zh = 用户何时开始：在一个周期（从一次提问到下一次，缺省）内的任意时刻，或像突发那样同时开始

help-ramp =
    .en = time over which the users begin, in place of one cycle
    .zh = 用户陆续开始的时长，代替一个周期

# number: an example
help-prefix-tokens =
    .en = tokens of a prefix that prompts begin with and that the prefix cache may hold, e.g. 1024
    .zh = prompt 开头共有前缀的 token 数，前缀缓存可保存，例如 1024

# number: the default
help-prefix-groups =
    .en = prefixes, each as likely as any other (1 by default)
    .zh = 前缀的种数，各等可能（缺省 1）

help-turns =
    .en = of a conversation with one user: each prompt holds all earlier prompts and answers (only with --users)
    .zh = 与一个用户的对话轮数：每轮 prompt 含此前全部输入与输出（仅与 --users 同用）

# number: an example
help-ttft =
    .en = objective of goodput: time to first token, e.g. '2 s'
    .zh = 有效吞吐的目标：首 token 延迟，例如 '2 s'

# number: an example
help-tpot =
    .en = objective of goodput: time per output token, e.g. '50 ms'
    .zh = 有效吞吐的目标：每输出 token 时间，例如 '50 ms'

help-policy =
    .en = chunks of prompts beside decode (vLLM) or before it (SGLang); by default as the scenario has it
    .zh = prefill 分块与解码同步进行（vLLM）或先于解码（SGLang）；缺省按场景

help-coordination =
    .en = of ranks that share experts: each prefills at once, waits for the others, or for a place at each; by default as the scenario has it
    .zh = 共用专家的各 rank 如何做预填充：立即、等待其他 rank，或等各 rank 都有空位；缺省按场景

help-max-num-seqs =
    .en = requests in work at once in one replica ({ $count } by default)
    .zh = 一个副本同时处理的请求数（缺省 { $count }）

needs-prefix-tokens =
    .en = --prefix-groups { $groups }: expected --prefix-tokens as well.
    .zh = --prefix-groups { $groups }：还应给出 --prefix-tokens。

prompt-is-shorter =
    .en = --prefix-tokens { $tokens }: a prompt has { $prompt } tokens, expected no more than that.
    .zh = --prefix-tokens { $tokens }：一条 prompt 有 { $prompt } token，不应超过它。

needs-users =
    .en = --turns { $turns }: a turn follows the answer before it, expected --users.
    .zh = --turns { $turns }：每一轮在前一回答之后，应给出 --users。

last-turn =
    .en = --turns { $turns }: the last one would have { $tokens } tokens, expected at most { $most } of prompt and answer.
    .zh = --turns { $turns }：最后一轮将有 { $tokens } token，输入与输出合计不应超过 { $most }。

out-of-range =
    .en = { $option }: expected { $whole ->
        [yes] a whole number of
       *[no] a number of
    } at least { $least }{ $above ->
        [yes] { " " }and at most { $most }
       *[no] { "" }
    }.
    .zh = { $option }：应为不小于 { $least }{ $above ->
        [yes] 、不大于 { $most }
       *[no] { "" }
    } 的{ $whole ->
        [yes] 整数
       *[no] 数
    }。

of-a-rate =
    .en = --{ $option }: requests of a rate come independently, expected --users.
    .zh = --{ $option }：按速率到达的请求彼此独立，应给出 --users。

both-say =
    .en = --begin and --ramp both say when users begin, expected one of them.
    .zh = --begin 与 --ramp 都规定用户何时开始，应只给其一。

nothing-arrives =
    .en = no request arrives in this time, expected a longer duration or a higher rate.
    .zh = 这段时间内没有请求到达，应延长时长或提高速率。

too-many =
    .en = { $count } requests of { $tokens } output tokens are too many to simulate, expected at most { $most }.
    .zh = { $count } 个各 { $tokens } 输出 token 的请求太多，无法仿真，至多 { $most } 个。

lengths =
    .en = Lengths of requests: { $listed ->
        [yes] those of the file
       *[no] { $lengths }
    }.
    .zh = 请求长度：{ $listed ->
        [yes] 如文件所列
       *[no] { $lengths }
    }。

begin =
    .en = { $ramp ->
        [yes] { " " }Users begin at any moment of the first { $time }.
       *[no] { " " }Users begin all at once.
    }
    .zh = { $ramp ->
        [yes] 用户在最初 { $time } 内的任意时刻开始。
       *[no] 用户同时开始。
    }

heading =
    .en = { $title }: { $asked }, { $requests } requests counted over { $window }, seed { $seed }.
    .zh = { $title }：{ $asked }，在 { $window } 内计 { $requests } 个请求，种子 { $seed }。

# number: the confidence
of-the-mean =
    .en = 95% of the mean
    .zh = 均值的 95% 区间

# only in .en: $name
time =
    .en = { $name }
    .zh = { $name ->
        [wait] 排队
        [ttft] 首 token 延迟
        [tpot] 每输出 token 时间
       *[e2e] 端到端延迟
    }

throughput =
    .en = throughput: { $requests }, { $tokens } of answers
    .zh = 吞吐：{ $requests }，输出 { $tokens }

in-the-system =
    .en = in the system: { $count } requests on average
    .zh = 系统内：平均 { $count } 个请求

goodput =
    .en = goodput: { $rate }, { $share } of the requests meet the objective
    .zh = 有效吞吐：{ $rate }，{ $share } 的请求达到目标

utilisation =
    .en = utilisation of the replicas that { $pool }: { $share }
    .zh = { $pool ->
        [serve] 服务
        [prefill] 做预填充的
        [decode] 做解码的
       *[other] { $pool }
    }副本利用率：{ $share }

prefix-cache =
    .en = prefix cache: { $share } of the prompt tokens found, of { $tokens } per prompt on average; { $evicted } blocks evicted
    .zh = 前缀缓存：命中 { $share } 的输入 token，平均每条 prompt { $tokens } token；淘汰 { $evicted } 块

saturation =
    .en = saturation: { $rate } ({ $source }{ $found ->
        [yes] , with this share found
       *[no] { "" }
    })
    .zh = 饱和：{ $rate }（{ $source ->
        [simulation] 仿真
       *[other] 闭式
    }{ $found ->
        [yes] ，按此命中比例
       *[no] { "" }
    }）

unbounded =
    .en = The queue grows without end at this rate; the times depend on how long it is simulated.
    .zh = 此速率下队列无限增长；所列时间取决于仿真时长。

too-short =
    .en = The run is too short for a steady state: all of it is counted, its beginning and its end included.
    .zh = 仿真太短，未达稳态：全程计入，包括开头与结尾。

unsettled =
    .en = What is counted lasts { $window }, a request { $request }: throughput, goodput and utilisation hang on where it begins, expected a longer run.
    .zh = 计入时段为 { $window }，而一个请求历时 { $request }：吞吐、有效吞吐与利用率取决于从何处起算，应延长仿真。

together =
    .en = { $ranks } ranks step together and seldom prefill at the same time, as the closed form has it: the saturation is an upper bound.
    .zh = { $ranks } 个 rank 同步推进，很少像闭式所设那样同时做预填充：此饱和速率为上限。

preemptions =
    .en = preemptions: { $count }
    .zh = 抢占：{ $count } 次
