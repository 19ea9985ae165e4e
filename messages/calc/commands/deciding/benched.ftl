### What ``calibrate`` makes of a bench's results: a comparison, and files of the reader's own.

run =
    .en = run
    .zh = 运行

inside =
    .en = inside
    .zh = 在区间内

as-the-others =
    .en = as the others
    .zh = 与其他一致

where =
    .en = { $where ->
        [yes] yes
        [below] below
       *[above] above
    }
    .zh = { $where ->
        [yes] 是
        [below] 偏低
       *[above] 偏高
    }

# number: the intervals of all answers
inside-of =
    .en = { $inside } of { $of } measured values lie inside of their 80% intervals.
    .zh = { $of } 个实测值中有 { $inside } 个落在 80% 区间内。

# number: the intervals of all answers
alike =
    .en = { $alike } of { $asked } are as far from what is predicted as the other runs are, within what rows of one system scatter (80%).
    .zh = { $asked } 个中有 { $alike } 个与预测的偏离和其他运行一致，在同一系统各行的离散范围内（80%）。

not-answered =
    .en = { $run }: { $counted } of { $asked } requests were answered.
    .zh = { $run }：{ $asked } 个请求中有 { $counted } 个得到回答。

other-length =
    .en = { $run }: { $prompts ->
        [yes] prompts
       *[no] answers
    } of { $counted } tokens on average, { $asked } were asked for and predicted.
    .zh = { $run }：{ $prompts ->
        [yes] 输入
       *[no] 输出
    }平均 { $counted } token，而要求与预测的是 { $asked }。

not-measured =
    .en = Not measured: { $names }.
    .zh = 未测：{ $names }。

writes =
    .en = --write stores what was measured, and a calibration to it.
    .zh = --write 保存实测结果及由其拟合的校准。

stored =
    .en = Stored in { $folder }: measured.yml, scenario.yml{ $fitted ->
        [yes] , calibration.yml.
       *[no] .
    }
    .zh = 已存入 { $folder }：measured.yml、scenario.yml{ $fitted ->
        [yes] 、calibration.yml。
       *[no] 。
    }

nothing-fitted =
    .en = Nothing is fitted: two pools, or too few runs without a prefix.
    .zh = 未作拟合：有两个池，或无前缀的运行太少。

fitted =
    .en = Fitted to { $rows } rows: { $values }.
    .zh = 用 { $rows } 行拟合：{ $values }。

nothing-fittable =
    .en = { $plan }: only runs with a prefix or arrivals of their own were measured, expected 'one', 'half' or 'planned' as well.
    .zh = { $plan }：只测了带前缀或自有到达方式的运行，还应有 'one'、'half' 或 'planned'。

changes-an-entry =
    .en = --set { $path }: changes an entry; copy the entry to a file of your own and deploy that, so that a calibration can name it.
    .zh = --set { $path }：改动了目录条目；请把该条目复制为自己的文件再部署，以便校准引用。

value =
    .en = { $name } { $value }
    .zh = { $name } { $value }

bench-of =
    .en = Bench of { $scenario }
    .zh = { $scenario } 的压测

of-one-length =
    .en = Requests of one length.
    .zh = 长度相同的请求。

own-bench =
    .en = { $scenario } under { $engine }, own bench
    .zh = { $scenario }，{ $engine }，自测
