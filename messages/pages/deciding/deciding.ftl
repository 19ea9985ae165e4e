### What the chapter on what decides says of a deployment: each input alone, by slope, together.

formulas-own-error =
    .en = the formulas' own error
    .zh = 公式自身的误差

its-time-per-output-token =
    .en = **{ $heading }.** With { $users } requests at once and every input at its central value, a token takes { $pace }. Three inputs move it most: { $inputs }. { $own_error_widest ->
        [yes] The formulas' own error, which no input changes, moves it farther than any of them.
       *[no] { "" }
    }{ $fits ->
        [yes] { "" }
       *[no] { " " }It does not fit; everything here assumes the same layout on cards with enough memory.
    }
    .zh = **{ $heading }**：{ $users } 个并发请求、各项输入取中心值时，每输出 token 时间为 { $pace }，主要取决于三项输入：{ $inputs }。{ $own_error_widest ->
        [yes] 公式自身的误差不随输入改变，影响比它们都大。
       *[no] { "" }
    }{ $fits ->
        [yes] { "" }
       *[no] 该部署放不下，以下均按显存足够的同样切法计算。
    }

three-inputs-that-move-it =
    .en = three inputs that move it most, each alone
    .zh = 单独变动时影响最大的三项输入

in-company-samples =
    .en = total index, { $samples } samples
    .zh = 总指数，{ $samples } 个样本

first-order =
    .en = first-order index
    .zh = 一阶指数

variance-explained =
    .en = Over { $evaluations } evaluations, the standard deviation of ln TPOT is { $spread }; one at a time, the inputs and the formulas' own error explain { $alone } of the variance. { $company }
    .zh = 共计算 { $evaluations } 次：ln TPOT 的标准差为 { $spread }，各项单独解释的方差合计 { $alone }。{ $company }

none-of-them-matters-only =
    .en = None matters only together with another.
    .zh = 这里没有哪项输入要与其他输入一起变动才起作用。

together-with-others-more-than =
    .en = Together with others, { $name } matters more than alone (first-order { $alone }, total { $total }).
    .zh = 与其他一起比单独更要紧的是{ $name }（一阶 { $alone }，总指数 { $total }）。

own-error =
    .en = own error
    .zh = 公式自身的误差

some-input =
    .en = the first input
    .zh = 所列第一项

three-inputs-that-move-it-most =
    .en = three inputs that move it most
    .zh = 影响最大的三项输入

tpot-at-central-values =
    .en = TPOT at central values
    .zh = TPOT（按中心值）

reaches-farthest =
    .en = moves TPOT farthest
    .zh = 使 TPOT 变动最大的

for-output-tokens-per-second =
    .en = { $heading }: { $demand } output tokens per second take { $cards } cards at the central values:
    .zh = 按“{ $heading }”的中心值，每秒 { $demand } 个输出 token 需要 { $cards } 张卡：

missing-card-costs =
    .en = a missing card costs
    .zh = 缺卡补购价

knowing-all-saves-cards =
    .en = knowing everything saves (cards)
    .zh = 若全部已知，可省（卡）

of-inputs-most-cards =
    .en = the best single input saves (cards)
    .zh = 先测单项输入最多可省（卡）

bandwidth-of-links-in-server =
    .en = bandwidth of the links in a server
    .zh = 服务器内链路带宽

peak-of-matrix-units =
    .en = peak of the matrix units
    .zh = 矩阵单元峰值

input-at-its-low-end =
    .en = input at its low end
    .zh = 输入取下限

input-at-its-high-end =
    .en = input at its high end
    .zh = 输入取上限
