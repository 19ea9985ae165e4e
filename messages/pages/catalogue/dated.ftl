### From when to when what a page shows is: the oldest and the newest source of its numbers.

as-of =
    .en = Data as of { $newest }{ $same ->
        [yes] {""}
       *[no] {" "}(newest source; the oldest is of { $oldest })
    }{ $undated ->
        [0] .
        [one] ; one value rests on a source without a date, read on { $read }.
       *[other] ; { $undated } values rest on sources without a date, read by { $read }.
    }
    .zh = 数据截至 { $newest }{ $same ->
        [yes] {""}
       *[no] （最新来源；最早的来源为 { $oldest }）
    }{ $undated ->
        [0] 。
       *[other] ；另有 { $undated } 项的来源未注日期，查阅于 { $read }。
    }
