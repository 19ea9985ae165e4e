### Why a claim has its verdict, in a sentence or two of each language.

pinned-release-takes-it =
    .en = a pinned release takes it
    .zh = 有已锁定的版本接受它

releases-that-take-it-call =
    .en = the releases that take it call it deprecated
    .zh = 接受它的版本已标为弃用

value-is-not-among-those =
    .en = the value is not among those that the sources list
    .zh = 取值不在源码所列之中

value-is-not-among-choices =
    .en = the value is not among the choices
    .zh = 取值不在可选项之中

value-is-not-of-its =
    .en = the value is not of its type
    .zh = 取值类型不符

no-pinned-release-has-such =
    .en = no pinned release has such a setting
    .zh = 已锁定的各版本均无此项

its-program-has-no-catalogue =
    .en = its program has no catalogue here
    .zh = 该程序没有收入本书的目录

it-is-meant-in-gib =
    .en = { $said } It is meant in GiB.
    .zh = { $said }实为 GiB。

deployment-that-it-is-of =
    .en = { $said } The deployment that it is of does not run as written.
    .zh = { $said }所属部署照所写无法运行。

others-say-otherwise =
    .en = { $said } { $listed }{ $more ->
        [yes] { " " }and others
       *[no] { "" }
    } { $claims ->
        [one] says
       *[other] say
    } otherwise.
    .zh = { $said }{ $listed } { $more ->
        [yes] 等
       *[no] { "" }
    }另有说法。

its-own-numbers-give =
    .en = Its own numbers give { $ours }.
    .zh = 按其自身数据为 { $ours }。

its-own-numbers-give-to =
    .en = Its own numbers give { $low } to { $high }.
    .zh = 按其自身数据为 { $low } 至 { $high }。

on-its-own-inputs-its =
    .en = On its own inputs its formula gives { $ours }.
    .zh = 按其自身输入，公式得 { $ours }。

to =
    .en = { $value } ({ $low } to { $high })
    .zh = { $value }（{ $low } 至 { $high }）

its-formula-gives-it-on =
    .en = Its formula gives it on its own inputs.
    .zh = 按其公式与输入可得此数。

ours-is =
    .en = Ours is { $ours }.
    .zh = 本书得 { $ours }。

inside-our-interval =
    .en = Inside our interval: { $ours }.
    .zh = 在本书区间之内：{ $ours }。

its-source-has =
    .en = Its source has { $ours }.
    .zh = 来源为 { $ours }。

so-has-its-source =
    .en = So has its source: { $ours }.
    .zh = 与来源一致：{ $ours }。

catalogue-has =
    .en = The catalogue has { $ours }.
    .zh = 目录值为 { $ours }。

so-has-catalogue =
    .en = So has the catalogue: { $ours }.
    .zh = 与目录一致：{ $ours }。

formula-holds-what-goes-in =
    .en = The formula holds, what goes in does not{ $named }; ours is { $ours }.
    .zh = 公式成立，输入有误{ $named }；本书得 { $ours }。

formula-does-not-hold-ours =
    .en = The formula does not hold; ours gives { $ours }.
    .zh = 公式不成立；本书得 { $ours }。

its-formula-does-not-lead =
    .en = Its formula does not lead to ours, { $ours }.
    .zh = 其算式得不到本书的 { $ours }。

neither-formula-holds-nor-what =
    .en = Neither the formula holds nor what goes in{ $named }; ours is { $ours }.
    .zh = 公式与输入均不成立{ $named }；本书得 { $ours }。

deployment-does-not-run-as =
    .en = The deployment does not run as written; ours is { $ours }.
    .zh = 所属部署照所写无法运行；本书得 { $ours }。

deployment-does-not-run-as-written =
    .en = The deployment does not run as written.
    .zh = 所属部署照所写无法运行。

deployment-does-not-run-as-written-on =
    .en = The deployment does not run as written; on cards with room for it, { $ours }.
    .zh = 所属部署照所写无法运行；若显存足够，应为 { $ours }。

nothing-decides-it =
    .en = Nothing decides it.
    .zh = 没有可据以判断的来源。

missing =
    .en = Missing: { $missing }
    .zh = 缺：{ $missing }

input-is-otherwise =
    .en = { $input } is { $ours }, not { $theirs }
    .zh = { $input }应为 { $ours }，不是 { $theirs }

in-brackets =
    .en = { " " }({ $inputs })
    .zh = （{ $inputs }）
