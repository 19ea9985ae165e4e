### Lines of the runtime changed for the worse, and whether a test saw it.

title =
    .en = Faults put into the program
    .zh = 往程序里注入错误

amount =
    .en = { $count } changed lines
    .zh = 改坏 { $count } 行，逐行进行

told =
    .en = { $unseen } seen by no test, { $unexplained } of these unexplained
    .zh = { $unseen } 处没有测试发现，其中 { $unexplained } 处没有解释

room =
    .en = room of the code
    .zh = 代码目录

mutants =
    .en = changed lines
    .zh = 改坏的行

seen =
    .en = seen by a test
    .zh = 被测试发现

share-seen =
    .en = share seen
    .zh = 发现率

explained =
    .en = unseen, explained
    .zh = 未发现，有解释

unexplained =
    .en = unseen, unexplained
    .zh = 未发现，无解释

line =
    .en = line
    .zh = 行号

before =
    .en = before
    .zh = 改前

after =
    .en = after
    .zh = 改后

unexplained-survivors =
    .en = Changed lines that no test saw and nobody has explained
    .zh = 没有测试发现、也没有解释的改动

explained-survivors =
    .en = Changed lines that no test need see, and why
    .zh = 无须发现的改动及其原因
