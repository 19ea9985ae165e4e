### Which errors matter: by what becomes of who believes them, then by what hangs on them.

does-not-run =
    .en = it does not run
    .zh = 无法运行

wrong-decision =
    .en = a wrong decision
    .zh = 决策失误

wrong-number =
    .en = a number that is off
    .zh = 数值有误
