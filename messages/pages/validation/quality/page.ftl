### The page on how hard the project was tested.

tried =
    .en = what was tried
    .zh = 试了什么

amount =
    .en = how much
    .zh = 试了多少

found =
    .en = what was found
    .zh = 查出什么

share =
    .en = found per case
    .zh = 每例查出

when =
    .en = when
    .zh = 日期

title-blind =
    .en = Predictions before the measurement was known
    .zh = 读到实测之前的预测

amount-blind =
    .en = { $rows } rows of { $systems } systems
    .zh = { $systems } 个系统，{ $rows } 行

# number: the intervals of all answers
told-blind =
    .en = { $outside } outside their 80% interval; median error { $median }
    .zh = { $outside } 行落在 80% 区间之外；误差中位数 { $median }

when-blind =
    .en = before anyone had read it
    .zh = 读到实测之前

not-done =
    .en = **This was not done yet**: no run has been kept.
    .zh = **尚未做过**：没有留下运行记录。

law =
    .en = law
    .zh = 规律

variants =
    .en = variants
    .zh = 变体

deployments =
    .en = tried
    .zh = 试验次数

broken =
    .en = broken
    .zh = 违反

left-out =
    .en = left out
    .zh = 未试比例

other-laws =
    .en = The other laws
    .zh = 其余规律

inexact-laws =
    .en = Laws that the formulas are known to break, and why
    .zh = 已知公式会违反的规律及其原因

ages =
    .en = On { $date }, { $old } of { $values } dated statements of the catalogue were older than a year, and { $passed } price lists and models had a newer one beside them. The newest releases of the { $engines } engines in it are of { $releases }; what came out since, it does not know.
    .zh = 截至 { $date }，目录中 { $values } 条有日期的数据里，{ $old } 条已超过一年；{ $passed } 份价目与模型在目录中另有更新的。所收 { $engines } 个引擎的最新版本日期为 { $releases }；此后发布的版本，本书并不知道。
