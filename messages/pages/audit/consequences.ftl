### Which errors matter: by what becomes of who believes them, then by what hangs on them.

does-not-run =
    .en = does not run
    .zh = 无法运行

wrong-decision =
    .en = wrong decision
    .zh = 决策错误

wrong-number =
    .en = wrong number
    .zh = 数值错误
