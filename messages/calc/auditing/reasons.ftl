### Why a claim has its verdict, in a sentence or two of each language.

of-program =
    .en = { $name } of { $program }: { $state ->
        [works] it does what the document says
        [usual] this is how it is by default; nothing changes
        [unread] nothing reads it
        [stops] it stops the program
        [worse] it makes matters worse than leaving it out
        [misses] it does not do what it is set for
        [wrong] it is not so
        [open] whether it helps depends on the installation
        [ran] it works, for the measurements that the document prints were made with it
       *[no-catalogue] this book does not hold what the program makes of it, so it cannot be decided
    }.
    .zh = { $program } 的 { $name }：{ $state ->
        [works] 作用与文档所说一致
        [usual] 即默认行为，设不设没有区别
        [unread] 没有任何程序读取
        [stops] 会使程序无法启动
        [worse] 不如不设
        [misses] 起不到预想的作用
        [wrong] 并非如此
        [open] 是否有益取决于具体环境
        [ran] 可用，文档所列实测数据即在此设置下得到
       *[no-catalogue] 本书没有收录该程序对这一设置的处理，无法判断
    }。

of-releases =
    .en = { $state ->
        [accepted] { $program } takes { $name } with this value (releases { $since } to { $until }).
        [deprecated] { $program } takes { $name } and calls it deprecated (releases { $since } to { $until }).
        [unlisted] { $program } knows { $name }, but not this value (releases { $since } to { $until }).
        [choice] { $program } knows { $name }, but refuses this value (releases { $since } to { $until }).
        [type] { $program } knows { $name }, but the value is of the wrong type (releases { $since } to { $until }).
       *[unknown] No release of { $program } that serves the model has { $name } (releases { $since } to { $until } were read).
    }
    .zh = { $state ->
        [accepted] { $program } 接受 { $name } 的这一取值（版本 { $since } 至 { $until }）。
        [deprecated] { $program } 接受 { $name }，但已标为弃用（版本 { $since } 至 { $until }）。
        [unlisted] { $program } 有 { $name }，但源码未列出这一取值（版本 { $since } 至 { $until }）。
        [choice] { $program } 有 { $name }，但拒绝这一取值（版本 { $since } 至 { $until }）。
        [type] { $program } 有 { $name }，但取值类型不符（版本 { $since } 至 { $until }）。
       *[unknown] 支持该模型的 { $program } 各版本（已查 { $since } 至 { $until }）都没有 { $name }。
    }

deployment-does-not-run =
    .en = { $but ->
        [yes] But the document's deployment
       *[no] The document's deployment
    } does not run: { $why }.
    .zh = { $but ->
        [yes] 但文档的部署
       *[no] 文档的部署
    }无法运行：{ $why }。

configuration-does-not-start =
    .en = But no release that serves the model starts with the document's other settings beside it, because of { $names }{ $more ->
        [yes] { " " }and others
       *[no] { "" }
    }.
    .zh = 但支持该模型的各版本都无法以文档的整组设置启动，原因是其中的 { $names }{ $more ->
        [yes] { " " }等
       *[no] { "" }
    }。

others-say-otherwise =
    .en = Contradicted by { $count ->
        [one] claim
       *[other] claims
    } { $listed }{ $more ->
        [yes] { " " }and others
       *[no] { "" }
    }.
    .zh = 与论断 { $listed } { $more ->
        [yes] 等
       *[no] { "" }
    }相互矛盾。

rests-on =
    .en = Assumed here: { $assumption }
    .zh = 前提：{ $assumption }

to =
    .en = { $value } ({ $low } to { $high })
    .zh = { $value }（{ $low } 至 { $high }）

right-is =
    .en = { $found }, the figure is { $ours }.
    .zh = { $found }应为 { $ours }。

its-own-numbers-give =
    .en = The document's own figures give { $ours }, not { $printed }.
    .zh = 按文档自己的数据为 { $ours }，而非 { $printed }。

its-own-numbers-agree =
    .en = The document's own figures give { $ours }, as printed.
    .zh = 按文档自己的数据为 { $ours }，与所写一致。

its-own-formula-gives =
    .en = The document's own formula and inputs give { $ours }, not { $printed }.
    .zh = 按文档自己的公式与输入应得 { $ours }，而非 { $printed }。

its-own-formula-agrees =
    .en = The document's own formula and inputs give { $ours }, as printed.
    .zh = 按文档自己的公式与输入可得 { $ours }，与所写一致。

its-own-formula-about =
    .en = The document's own formula and inputs give { $ours }, about the { $printed } that it prints as an approximation.
    .zh = 按文档自己的公式与输入可得 { $ours }，与其约数 { $printed } 相近。

as-printed =
    .en = { $found }, the figure is { $ours }, as printed.
    .zh = { $found }为 { $ours }，与文档一致。

not-as-printed =
    .en = { $found }, the figure is { $ours }, not { $printed }.
    .zh = { $found }应为 { $ours }，而非 { $printed }。

within-interval =
    .en = { $found }, the figure is { $ours }; the printed { $printed } lies within this interval.
    .zh = { $found }为 { $ours }，文档的 { $printed } 落在这一区间内。

overlaps-interval =
    .en = { $found }, the figure is { $ours }; the printed { $printed } overlaps this interval, its middle inside.
    .zh = { $found }为 { $ours }；文档的 { $printed } 与这一区间重叠，中值在区间内。

within-what-is-printed =
    .en = { $found }, the figure is { $ours }, inside the printed { $printed }.
    .zh = { $found }为 { $ours }，在文档所写的 { $printed } 之内。

limit-within-interval =
    .en = { $found }, the figure is { $ours }; the limit of { $printed } lies within this interval and may be kept.
    .zh = { $found }为 { $ours }，文档的限值 { $printed } 落在这一区间内，有可能满足。

limit =
    .en = { $least ->
        [yes] { $met ->
            [yes] { $found }, the figure is { $ours }, which meets the printed minimum of { $printed }.
           *[no] { $found }, the figure is { $ours }, below the printed minimum of { $printed }.
        }
       *[no] { $met ->
            [yes] { $found }, the figure is { $ours }, which keeps to the printed limit of { $printed }.
           *[no] { $found }, the figure is { $ours }, above the printed limit of { $printed }.
        }
    }
    .zh = { $least ->
        [yes] { $met ->
            [yes] { $found }为 { $ours }，达到文档要求的下限 { $printed }。
           *[no] { $found }为 { $ours }，达不到文档要求的下限 { $printed }。
        }
       *[no] { $met ->
            [yes] { $found }为 { $ours }，未超过文档允许的上限 { $printed }。
           *[no] { $found }为 { $ours }，超过文档允许的上限 { $printed }。
        }
    }

statement =
    .en = { $least ->
        [yes] { $met ->
            [yes] { $found }, the number that decides the statement is { $ours }, above { $printed }: the statement holds.
           *[no] { $found }, the number that decides the statement is { $ours }, not above { $printed }: the statement does not hold.
        }
       *[no] { $met ->
            [yes] { $found }, the number that decides the statement is { $ours }, below { $printed }: the statement holds.
           *[no] { $found }, the number that decides the statement is { $ours }, not below { $printed }: the statement does not hold.
        }
    }
    .zh = { $least ->
        [yes] { $met ->
            [yes] { $found }，据以判断的数值为 { $ours }，高于 { $printed }，说法成立。
           *[no] { $found }，据以判断的数值为 { $ours }，并不高于 { $printed }，说法不成立。
        }
       *[no] { $met ->
            [yes] { $found }，据以判断的数值为 { $ours }，低于 { $printed }，说法成立。
           *[no] { $found }，据以判断的数值为 { $ours }，并不低于 { $printed }，说法不成立。
        }
    }

formula-holds-inputs-do-not =
    .en = The document's formula is right, its inputs are not: { $inputs }.
    .zh = 文档的公式正确，输入有误：{ $inputs }。

formula-does-not-hold =
    .en = The document's formula, which gives { $own }, is wrong.
    .zh = 文档的公式（得 { $own }）不成立。

neither-holds =
    .en = Both the document's formula and its inputs are wrong: { $inputs }.
    .zh = 文档的公式与输入均有误：{ $inputs }。

were-there-room =
    .en = If its cards had enough memory, the figure would be { $ours }.
    .zh = 假如显存足够，该值应为 { $ours }。

it-is-assumed =
    .en = This is an assumption of the document. It could be judged with: { $missing }
    .zh = 这是文档自己的假设；若要判断，需要：{ $missing }

cannot-be-checked =
    .en = This cannot be checked. What is missing: { $missing }
    .zh = 无法核实，缺少：{ $missing }

only-the-document-says-so =
    .en = Only the document itself says so; nothing independent confirms or refutes it.
    .zh = 只有文档自己这样说，没有独立来源可以印证或推翻。

a-source =
    .en = a source.
    .zh = 来源。

input-is-otherwise =
    .en = { $input } is { $ours }, not { $theirs }
    .zh = { $input }应为 { $ours }，不是 { $theirs }

in-gib =
    .en = { $found }, the figure is { $gib } GiB, which is { $ours }: the document writes GB for GiB.
    .zh = { $found }为 { $gib } GiB，即 { $ours }；文档把 GiB 写成了 GB。

rounds-to =
    .en = { $found }, the figure is { $ours }, which rounds to the printed { $printed }.
    .zh = { $found }为 { $ours }，取整后即文档的 { $printed }。

formula-comes-close =
    .en = The document's inputs are wrong: { $inputs }. With the right ones its formula gives { $found }, close to what a full calculation does.
    .zh = 文档的输入有误：{ $inputs }。代入正确的输入，其公式得 { $found }，与完整计算接近。

as-of =
    .en = More at { $claim }, of the same quantity.
    .zh = 另见同一数量的 { $claim }。
