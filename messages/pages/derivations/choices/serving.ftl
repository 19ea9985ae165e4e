### Which chunk and how many requests at once keep a promised time per token, and what they cost.

requests-at-once =
    .en = requests at once
    .zh = 同时处理的请求数

of-best =
    .en = share of the best
    .zh = 相对最好

longest-gap =
    .en = longest gap
    .zh = 最长间隔

prompt-in-chunks =
    .en = A prompt of { $prompt } tokens alone, in one chunk and in chunks of { $chunks }: { $waits }. Small chunks shorten the gaps of others, not this wait.
    .zh = 单独一条 { $prompt } token 的 prompt 的首 token 延迟，不分块与每块 { $chunks } token：{ $waits }。分块缩短的是别人的停顿，不是自己等首 token 的时间。

half-of-prompt-found =
    .en = Half of each prompt found, { $users } users: first token and throughput on { $gains }. Requests without a common prefix gain nothing.
    .zh = 每条 prompt 命中一半、{ $users } 个用户，首 token 延迟与吞吐：{ $gains }。没有公共前缀的请求没有收益。

activations-of-chunks =
    .en = { $prompt } tokens take { $peak } of activations in S3's chunks, { $whole } in one chunk, where { $spare } are spare; the first token comes after { $wait_in_small } in chunks of { $chunk }, { $wait_in_own } in S3's, { $wait_whole } in one chunk. A large chunk is right, but because each chunk reads the host's experts again, not because of memory.
    .zh = { $prompt } token 的激活：按其分块 { $peak }，不分块 { $whole }，而余量有 { $spare }；首 token 延迟：每块 { $chunk } 时 { $wait_in_small }，按其分块 { $wait_in_own }，不分块 { $wait_whole }。取大块是对的，但理由是每块都要重读主机上的专家，而不是显存。

share-of-prefill =
    .en = Share of prefill in one request on 910B2, prompt / answer: { $shares }. The length of the answer matters as much.
    .zh = 910B2 上单个请求中预填充所占时间，输入 / 输出：{ $shares }。输出长度与输入长度同样重要。

waits-of-layout =
    .en = { $layout } { $first } → { $last }
    .zh = { $layout } { $first } → { $last }

gains-of-layout =
    .en = { $layout } × { $first }, +{ $more }
    .zh = { $layout } × { $first }，+{ $more }
