### Lines of the runtime changed for the worse, and whether a test saw it.

title =
    .en = Faults put into the program
    .zh = 往程序里注入错误

amount =
    .en = { $count } changed lines
    .zh = 改坏 { $count } 行，逐行进行

told =
    .en = { $unseen } seen by no test at first; { $since } of these by tests written since, { $unexplained } still unseen and unexplained
    .zh = 起初 { $unseen } 处没有测试发现；其中 { $since } 处由此后新增的测试发现，{ $unexplained } 处仍未发现，也没有解释

room =
    .en = room of the code
    .zh = 代码目录

mutants =
    .en = changed lines
    .zh = 改坏的行

seen =
    .en = seen at first by a law or a case
    .zh = 起初即被规律或用例发现

recorded =
    .en = by a recorded answer alone
    .zh = 只由留存的答案发现

since =
    .en = by a test since
    .zh = 由新增测试发现

share-seen =
    .en = share seen at first
    .zh = 起初的发现率

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
