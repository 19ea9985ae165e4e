### Which errors matter: by what becomes of who believes them, then by what hangs on them.

does-not-run = 无法运行
wrong-decision = 决策失误
wrong-number = 数值有误
