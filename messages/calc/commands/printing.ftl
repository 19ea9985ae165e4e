### What commands share: exit codes, tables for people, plain data for programs, stored entries.

deployed =
    .en = { $cards } × { $device }, { $model } in { $precision }, { $layout }.
    .zh = { $cards } × { $device }，{ $model }，{ $precision }，{ $layout }。
