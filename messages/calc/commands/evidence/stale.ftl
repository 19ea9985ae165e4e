### ``stale``: what of the catalogue is old, what has a newer one in it, and how it is renewed.

help-kind =
    .en = only files of this kind
    .zh = 只看此类文件

help-older =
    .en = days from which on a date is old ({ $days })
    .zh = 日期距今达到多少天即视为陈旧（{ $days }）

help-as-of =
    .en = the day that ages are counted to, instead of today
    .zh = 计算时长的截止日期，默认今天

# only in .en: $name
column =
    .en = { $name }
    .zh = { $name ->
        [kind] 类别
        [file] 文件
        [key] 键
        [what] 来源或名称
        [date] 日期
       *[age] 天数
    }

total =
    .en = { $kind }: { $old } of { $dated } dated statements are old, { $superseded } have a newer one
    .zh = { $kind }：{ $dated } 条带日期的数据中，{ $old } 条陈旧，{ $superseded } 条已有更新

old =
    .en = At least { $days } days old on { $as_of }:
    .zh = 截至 { $as_of }，已达 { $days } 天：

releases =
    .en = Newest release of each engine in the catalogue:
    .zh = 目录中各引擎的最新版本：

superseded =
    .en = The catalogue has a newer one:
    .zh = 目录中已有更新的条目：

by =
    .en = { $file } { $key } ({ $date }): { $newer } { $name } ({ $when })
    .zh = { $file } { $key }（{ $date }）→ { $newer } { $name }（{ $when }）

no-days =
    .en = --older: '{ $text }' is no number of days, expected a whole number such as { $days }.
    .zh = --older：“{ $text }”不是天数，应为整数，如 { $days }。

how =
    .en = How a kind is renewed: --kind KIND. Which addresses of sources are gone: python -m tools.source_addresses, in a clone.
    .zh = 如何更新某一类：加 --kind 类别。哪些来源地址已失效：在代码仓库中运行 python -m tools.source_addresses。

afterwards =
    .en = Then python -m calc check FILE, which says what the file lacks, and pytest tests/catalogue. A source has a date, or read, the day on which it was read.
    .zh = 最后运行 python -m calc check FILE（指出文件还缺什么）与 pytest tests/catalogue。来源要写 date；没有日期的写 read，即查阅日。

# number: of a model's name, an example
recipe =
    .en = { $kind ->
        [models] Source: the publisher's config.json and model card, an entry each in params/sources/models.yml. Write: python -m calc import-model config.json --name "NAME 1.0" --source KEY -o params/models/NAME.yml; by hand family as that of its relatives, weights, and published with caches, as a relative has them. Check: counts to the digits printed; its name leaves also of a relative; a deployment with model: NAME through make report, once per language.
        [acceptances] Source: accepted lengths by number of drafted tokens, from who trained the drafter or from an engine's repository. Write: params/acceptances/NAME.yml; what another source measured stands under others. Check: whether the printed length counts the token that is not drafted.
        [devices] Source: the maker's data sheet; memory and power as the maker's tool lists them on a card; rents from a dated list of providers. Write: params/devices/NAME.yml, a new card like a near one with what differs; a replaced figure that its source still prints stands under others. Check: dense or sparse, a die or a package; mechanisms; announced goes once the card is sold.
        [links] Source: the maker's data sheet, or a collective or point-to-point test as printed. Write: params/links/NAME.yml. Check: one direction or both, of a card or of a server, bits or bytes.
        [nodes] Source: the maker's page of the server. Write: params/nodes/NAME.yml. Check: which links join its cards and its servers, how many of each a card has.
        [microbenchmarks] Source: tables of a public package or of a repository of kernels; tools/measure_card.py on a card of your own. Write: params/microbenchmarks/NAME.yml, with the releases under software. Check: no rate is above the peak of its card; what was left out, and why, in the note.
        [mechanisms] Source: measurements of a part alone: a kernel, a link, the host; never the speed of a served model. Write: params/mechanisms/NAME.yml, value and range; then python -m calc discrepancy --write, and python -m calc calibrate NAME --write of each calibration. Check: the value lies in the middle of its range unless a source says why not.
        [formats] Source: quantization_config of a published checkpoint, and the engine's source that loads it, at a commit. Write: params/formats/NAME.yml, or params/precisions/NAME.yml for which tensor is stored how. Check: the bytes that a model comes to against those of its files.
        [profiles] Source: the source of the release, at its tag. Write: a statement in params/profiles/ENGINE.yml, after those that it follows, with since; until in one that no longer holds. Check: older releases keep what they did: python -m calc estimate NAME --engines ENGINE@OLD,ENGINE@NEW.
        [fits] Source: tables of measured operators, installed or given. Write: python -m calc kernels fit --card CARD --engine ENGINE -o params/fits/ENGINE-MECHANISMS.yml --source KEY --date DATE. Check: python -m calc kernels check on the tables first; errors on the half that was not fitted.
        [kernels] Source: the modules of quantisation in the engine's release, at its tag. Write: params/kernels/ENGINE.yml, with since. Check: multiplied in the format or only stored in it; the classes of cards that the code names.
        [scenarios] Source: the document, recipe or command line that the deployment is of. Write: params/scenarios/NAME.yml; a newer release under engine. Check: python -m calc estimate NAME and its warnings; python -m calc engines for its settings in that release; what was measured of it is renewed as measurements are.
        [measurements] Source: rows as published, of a system whose cards, engine, weights and requests are stated. Write: a file of its own, params/measurements/NAME.yml or params/consumptions/NAME.yml; a row that was measured is never replaced. Check: python -m calc validate --system NAME, then python -m calc discrepancy --write.
        [calculators] Source: the calculator's own page or source, as it stands today. Write: params/calculators/NAME.yml, its formula as a tree. Check: an example that the page prints comes out.
        [documents] Source: nothing: a document stays what it was on its day, and a later edition is a document of its own. Write: params/documents/, params/claims/ and params/formulas/ of that edition. Check: python -m calc audit: its verdicts change when the catalogue does.
        [calibrations] Source: nothing is read: it is computed from measured rows. Write: python -m calc calibrate NAME --write and python -m calc discrepancy --write, whenever a formula or a range has changed. Check: python -m calc validate.
        [accuracies] Source: a study or test that scores both formats itself. Write: params/accuracies/formats.yml, or a file per document. Check: both scores from one source, with one tool; how many problems they rest on.
        [settings] Source: source or manual of the release that the document installs, else of the newest. Write: params/settings/SUBJECT.yml, state and note. Check: the note names the release; what took the place of a setting stands in params/engines/successors/.
        [questions] Source: nothing is read: what is asked is ours, in params/questions/ and params/goals/. Write: the models, cards and lengths that readers ask about today. Check: python -m calc search GOAL still finds a deployment.
        [loads] Source: a published trace of a service, with its days. Write: params/loads/NAME.yml. Check: the time zone of the hours; whether weekends are in them.
        [failures] Source: failures that an operator counted, over so many cards and hours. Write: params/failures/NAME.yml. Check: of a card or of a server; which failures count.
        [prices] Source: the service's own price page, else a quotation with its day; of a card's hour, a dated list of providers. Write: a list under sold of params/prices/SERVICE.yml, last, with since, and until in the one that it replaces; an hour under price in params/devices/NAME.yml. Check: one currency, peak and off-peak apart; python -m calc stale --kind prices then tells the older one.
        [powers] Source: power that a card's counters show while kernels of one kind run. Write: params/powers/NAME.yml, shares of the card's full power. Check: of the card alone or of the server; the cap it ran under.
       *[engines] Source: the released package on PyPI, which gives day and hash. Write: its version in ENGINES of tools/engines/extract.py, the oldest first; then python -m tools.engines.extract --only ENGINE and python -m tools.engines.assertions --only ENGINE, and --only of each of its tools. Check: renamed settings in params/engines/successors/; a statement in params/profiles/ where the release does something otherwise.
    }
    .zh = { $kind ->
        [models] 来源：发布方的 config.json 与模型卡，各在 params/sources/models.yml 中登记一条。填写：python -m calc import-model config.json --name "NAME 1.0" --source KEY -o params/models/NAME.yml；再手工补 family（同族一致）、weights，以及含 caches 的 published（照同族写）。核对：参数量与公布值逐位一致；其名称从同族的 also 中移除；写一个 model: NAME 的部署，用 make report 以两种语言各看一遍。
        [acceptances] 来源：按草稿 token 数给出的接受长度，取自草稿模型的训练方或引擎的代码仓库。填写：params/acceptances/NAME.yml；其他来源的实测写在 others 下。核对：公布的长度是否含非草稿的那个 token。
        [devices] 来源：厂商规格书；显存与功耗以厂商工具在卡上的读数为准；租价取自带日期的各家报价。填写：params/devices/NAME.yml，新卡用 like 指向相近的卡、只写不同之处；来源仍在公布的旧值写在 others 下。核对：稠密还是稀疏、单 die 还是整个封装；所用的 mechanisms；开售后删去 announced。
        [links] 来源：厂商规格书，或集合通信、点对点测试的原始输出。填写：params/links/NAME.yml。核对：单向还是双向，按卡还是按服务器，bit 还是字节。
        [nodes] 来源：厂商的服务器产品页。填写：params/nodes/NAME.yml。核对：卡间与服务器间各用哪种链路，每卡几条。
        [microbenchmarks] 来源：公开软件包或算子仓库的实测表；自有的卡用 tools/measure_card.py 测。填写：params/microbenchmarks/NAME.yml，版本写在 software 中。核对：任何速率都不高于该卡峰值；剔除了什么、为何剔除，写进 note。
        [mechanisms] 来源：单独一部分的实测：算子、链路或主机；绝不用模型服务的整体速度。填写：params/mechanisms/NAME.yml 的取值与区间；随后 python -m calc discrepancy --write，并对每个校准运行 python -m calc calibrate NAME --write。核对：取值居于区间中间，除非来源另有说明。
        [formats] 来源：已发布权重的 quantization_config，以及引擎加载它的源码（注明 commit）。填写：params/formats/NAME.yml；各张量如何存放写在 params/precisions/NAME.yml。核对：算得的字节数与权重文件的大小一致。
        [profiles] 来源：该版本的源码（以标签为准）。填写：在 params/profiles/ENGINE.yml 的相关条目之后加一条，写 since；不再成立的写 until。核对：旧版本的做法不变：python -m calc estimate NAME --engines ENGINE@旧版,ENGINE@新版。
        [fits] 来源：算子实测表，已安装的或另行给出的。填写：python -m calc kernels fit --card CARD --engine ENGINE -o params/fits/ENGINE-MECHANISMS.yml --source KEY --date DATE。核对：先用 python -m calc kernels check 检查实测表；再看未参与拟合的那一半的误差。
        [kernels] 来源：该引擎版本的量化模块源码（以标签为准）。填写：params/kernels/ENGINE.yml，写 since。核对：以该格式相乘，还是只以该格式存放；代码中写明的各代卡。
        [scenarios] 来源：部署所依据的文档、配方或启动命令。填写：params/scenarios/NAME.yml；新版本写在 engine 中。核对：python -m calc estimate NAME 及其警告；用 python -m calc engines 核对各设置在该版本中是否有效；其实测依据按 measurements 更新。
        [measurements] 来源：公布的实测行，且系统的卡、引擎、权重与请求都已写明。填写：另建文件 params/measurements/NAME.yml 或 params/consumptions/NAME.yml；已测的行从不替换。核对：python -m calc validate --system NAME，随后 python -m calc discrepancy --write。
        [calculators] 来源：计算器自己的页面或源码的现状。填写：params/calculators/NAME.yml，公式写成树。核对：页面上的算例能复算出来。
        [documents] 来源：无需更新：文档以其当日为准，新版算另一份文档。填写：新版的 params/documents/、params/claims/ 与 params/formulas/。核对：python -m calc audit：目录变了，结论随之改变。
        [calibrations] 来源：不读来源，由实测行算出。填写：公式或区间变动后运行 python -m calc calibrate NAME --write 与 python -m calc discrepancy --write。核对：python -m calc validate。
        [accuracies] 来源：自行评测了两种格式的研究或测试。填写：params/accuracies/formats.yml，或每份文档一个文件。核对：两个分数同一来源、同一工具；题目数量。
        [settings] 来源：文档所装版本的源码或手册，未写版本时取最新版。填写：params/settings/SUBJECT.yml 的 state 与 note。核对：note 写明版本；取而代之的设置写在 params/engines/successors/。
        [questions] 来源：不读来源：问题由本书自拟，在 params/questions/ 与 params/goals/。填写：换成读者如今关心的模型、卡与长度。核对：python -m calc search GOAL 仍能找到部署。
        [loads] 来源：公开的服务请求记录，注明日期。填写：params/loads/NAME.yml。核对：小时的时区；是否含周末。
        [failures] 来源：运营方统计的故障数，及其覆盖的卡数与时长。填写：params/failures/NAME.yml。核对：按卡还是按服务器；哪些算故障。
        [prices] 来源：服务方自己的价目页，否则取带日期的转引；卡时价取带日期的各家报价。填写：在 params/prices/SERVICE.yml 的 sold 末尾加一份价目，写 since，被取代的写 until；卡时价写在 params/devices/NAME.yml 的 price 下。核对：同一币种，高峰与非高峰分开；随后 python -m calc stale --kind prices 会列出旧价目。
        [powers] 来源：只运行一类算子时卡上计数器的功耗读数。填写：params/powers/NAME.yml，写成占整卡功耗的比例。核对：单卡还是整机；当时的功耗上限。
       *[engines] 来源：PyPI 上发布的软件包，日期与哈希以它为准。填写：在 tools/engines/extract.py 的 ENGINES 中按由旧到新加入版本；再运行 python -m tools.engines.extract --only ENGINE 与 python -m tools.engines.assertions --only ENGINE，其各工具也用 --only 各跑一遍。核对：改名的设置写在 params/engines/successors/；做法有变的，在 params/profiles/ 加一条。
    }
