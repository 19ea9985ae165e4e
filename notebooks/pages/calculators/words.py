"""What the calculators say, in both languages; places for values are in braces."""

from __future__ import annotations

from notebooks.show.display import LANGUAGES

Text = tuple[str, str]
WORDS: dict[str, Text] = {
    "comma": (", ", "、"),
    # fields
    "card": ("card", "卡"),
    "model": ("model", "模型"),
    "precision": ("precision", "精度"),
    "engine": ("engine", "推理引擎"),
    "tp": ("tensor parallelism (TP)", "张量并行（TP）"),
    "pp": ("pipeline parallelism (PP)", "流水线并行（PP）"),
    "dp": ("data parallelism (DP)", "数据并行（DP）"),
    "ep": ("expert parallelism (EP)", "专家并行（EP）"),
    "users": ("requests at once", "并发请求数"),
    "input": ("prompt tokens of a request", "每请求输入 token"),
    "output": ("answer tokens of a request", "每请求输出 token"),
    "drafts": ("draft tokens of a step (MTP)", "每步草稿 token（MTP）"),
    "chunk": ("prompt tokens of a step (chunk)", "每步预填充 token（分块）"),
    "block": ("tokens of a cache block", "KV 块大小（token）"),
    "share": ("share of the memory that the engine may use, %", "引擎可用显存占比，%"),
    "way": ("price of a card", "卡价"),
    "price": ("your price, USD per card and hour", "自定价格，美元/卡时"),
    "use": ("share of the throughput that is used, %", "吞吐利用率，%"),
    "phase": ("phase", "阶段"),
    "decode": ("decode", "解码"),
    "prefill": ("prefill", "预填充"),
    "more": ("More settings", "更多设置"),
    "cards": ("{count} cards in {nodes} × {node}", "{count} 卡，{nodes} × {node}"),
    "own": ("owned: {value} USD/h", "自有：{value} 美元/小时"),
    "rent-always": ("rented for years: {value} USD/h", "长租：{value} 美元/小时"),
    "rent-by-hour": ("rented by the hour: {value} USD/h", "按小时租：{value} 美元/小时"),
    "yours": ("your own price", "自定价格"),
    # buttons
    "link": ("Copy link", "复制链接"),
    "copied": ("The link is copied.", "链接已复制。"),
    "notCopied": ("The address bar has the link.", "链接在地址栏中。"),
    "download": ("Download YAML", "下载 YAML"),
    "load": ("Load YAML", "载入 YAML"),
    "loaded": ("{name} is loaded.", "已载入 {name}。"),
    # the front page
    "count": ("cards", "卡数"),
    "fitsShort": ("It fits: {spare} to spare on the fullest card.",
                  "装得下：最满的卡还余 {spare}。"),
    "fitsNotShort": ("It does not fit: the fullest card is {spare} short of the {usable} that an "
                     "engine may use.", "装不下：引擎可用 {usable}，最满的卡还差 {spare}。"),
    "estimate": ("estimate", "估计"),
    "interval": ("80% interval", "80% 区间"),
    "tpotRow": ("time per output token (TPOT)", "每输出 token 时间（TPOT）"),
    "ttftRow": ("time to first token (TTFT)", "首 token 延迟（TTFT）"),
    "rateRow": ("all cards together, token/s", "全部卡合计，token/s"),
    "millionRow": ("a million output tokens, USD", "每百万输出 token，美元"),
    "held": ("Of {rows} measured runs of this class ({kind}), {inside} lay inside their interval.",
             "同类实测（{kind}）共 {rows} 组，{inside} 组落在各自区间内。"),
    "plan": ("Plan: {cut} on {count} cards, the fastest cut that fits.",
             "方案：{count} 卡，{cut}，能装下的切分中最快的一种。"),
    "noCut": ("No cut of {count} cards divides {model}.",
              "{count} 张卡没有能整除 {model} 的切分。"),
    "command": ("The command that searches all cuts", "搜索全部切分的命令"),
    "takeApart": ("Take it apart: memory, time, cost", "逐项拆解：显存、时间、成本"),
    "proof": ("How it is derived", "推导过程"),
    # does it fit
    "fits": ("It fits: {spare} of {usable} to spare on the fullest card (80%: {range}). The cache "
             "has room for {most} such requests at once (80%: {mostRange}).",
             "装得下：最满的卡在可用的 {usable} 中余 {spare}（80% 区间 {range}）。KV 缓存最多容纳"
             " {most} 个这样的并发请求（80% 区间 {mostRange}）。"),
    "fitsNot": ("It does not fit: the fullest card is {short} short of the {usable} that the "
                "engine may use (80% interval of what is left: {range}).",
                "装不下：引擎可用 {usable}，最满的卡还差 {short}（余量的 80% 区间 {range}）。"),
    "cacheEnds": ("The weights fit, but the cache is exhausted at {most} of the {users} requests.",
                  "权重装得下，但 KV 缓存到第 {most} 个请求就已用尽（共 {users} 个）。"),
    "noRequest": ("Not even one request fits beside the weights.",
                  "除权重外，连一个请求也装不下。"),
    "memoryCaption": ("Memory of the fullest card. The line marks what the engine may use.",
                      "最满的卡的显存构成。竖线是引擎可用的上限。"),
    "weights": ("weights", "权重"),
    "copies": ("copies for absorption, drafting layer", "吸收用副本、预测层"),
    "cache": ("KV cache, every request at its longest", "KV 缓存（每请求按最长计）"),
    "activations": ("activations", "激活"),
    "buffers": ("buffers of the exchange", "专家通信缓冲"),
    "runtime": ("runtime reserve", "运行时预留"),
    "spare": ("headroom", "余量"),
    "over": ("too much", "超出"),
    "partly": ("stage {stage} of {stages}", "第 {stage} 级，共 {stages} 级"),
    # how fast
    "fast": ("A token every {tpot} (80%: {tpotRange}), the first after {ttft} (80%: {ttftRange}); "
             "all cards together {rate} token/s (80%: {rateRange}).",
             "每输出 token {tpot}（80% 区间 {tpotRange}），首 token {ttft}（80% 区间 "
             "{ttftRange}）；全部卡合计 {rate} token/s（80% 区间 {rateRange}）。"),
    "fastApart": ("A token every {tpot} (80%: {tpotRange}); all cards of this pool together {rate} "
                  "token/s (80%: {rateRange}). Prompts have a pool of their own.",
                  "每输出 token {tpot}（80% 区间 {tpotRange}）；本池全部卡合计 {rate} token/s（80% "
                  "区间 {rateRange}）。预填充在另一个池中。"),
    "whatIf": ("The cards lack the memory for it: these are the times of cards that have enough.",
               "显存不足：以下是显存足够时的时间。"),
    "stepCaption": ("The time per output token, taken apart.", "每输出 token 时间的构成。"),
    "hides": ("of this hidden by overlap: {hidden}", "其中被重叠掩盖：{hidden}"),
    "curveCaption": ("Time per output token against requests at once, and its lower bound. The "
                     "dot is the deployment above with its 80% interval; beyond the vertical line "
                     "the cache is exhausted.",
                     "每输出 token 时间随并发的变化及其下界。圆点为上方的部署及其 80% 区间；竖线"
                     "右侧 KV 缓存已用尽。"),
    "tpot": ("time per output token", "每输出 token 时间"),
    "floor": ("lower bound", "下界"),
    # what does it cost
    "costs": ("A million output tokens cost {output} USD (80%: {outputRange}), a million prompt "
              "tokens {input} USD (80%: {inputRange}); a request {request} USD.",
              "每百万输出 token {output} 美元（80% 区间 {outputRange}），每百万输入 token {input} "
              "美元（80% 区间 {inputRange}）；每请求 {request} 美元。"),
    "noPrice": ("Nobody states this price of the card. Choose another, or enter yours.",
                "没有这种方式的卡价来源。请另选一种，或填写自己的价格。"),
    "priceSource": ("Price of a card: {value} USD/h ({range}), {source}.",
                    "卡价 {value} 美元/小时（{range}），来源：{source}。"),
    "yourPrice": ("Price of a card: {value} USD/h, yours.", "卡价 {value} 美元/小时，自定。"),
    "costCaption": ("Cost of a million output tokens against requests at once.",
                    "每百万输出 token 的成本随并发的变化。"),
    "perOutput": ("USD per million output tokens", "美元/百万输出 token"),
    # roofline
    "roof": ("Most of a {phase} step's arithmetic and reading goes to: {name}, at {intensity} "
             "FLOP/B and {reached} TFLOPS. The roof bends at {ridge} FLOP/B.",
             "{phase}步中耗时最长的算子：{name}，{intensity} FLOP/B，达到 {reached} TFLOPS。屋顶"
             "线的脊点在 {ridge} FLOP/B。"),
    "roofCaption": ("Operations per byte of each operator, and what it reaches, below the roof of "
                    "the card: memory bandwidth to the left, dense peak to the right.",
                    "各算子的计算强度与达到的算力，上方是卡的屋顶线：左侧受限于显存带宽，右侧受限"
                    "于稠密峰值。"),
    "operator": ("operator", "算子"),
    "intensity": ("intensity, FLOP/B", "计算强度，FLOP/B"),
    "reached": ("reached, TFLOPS", "达到，TFLOPS"),
    "time": ("time of a step", "每步时间"),
    "boundBy": ("bound by", "受限于"),
    "bandwidth": ("memory bandwidth", "显存带宽"),
    "compute": ("arithmetic", "算力"),
    # what is set besides
    "also": ("Also set, as the deployment has it:", "另有设定（取自该部署）："),
    "colon": (": ", "："),
    "yes": ("yes", "是"),
    "no": ("no", "否"),
    "takeBack": ("take back: {name}", "取消设定：{name}"),
    "takeAllBack": ("Take all back", "全部取消"),
    # refusals
    "badLink": ("The link cannot be read at '{text}'; the usual state is shown.",
                "链接在“{text}”处无法识别，显示默认状态。"),
    "unknownKey": ("'{key}' is nothing that a calculator has.", "计算器没有“{key}”这一项。"),
    "unknownValue": ("'{text}' is none of the choices of {key}.",
                     "“{text}”不在 {key} 的可选项中。"),
    "outOfRange": ("'{text}' is out of range for {key}, expected {low} to {high}.",
                   "{key} 的值“{text}”超出范围，应在 {low} 到 {high} 之间。"),
    "noPrecision": ("{card} has no matrix unit for what {precision} multiplies; choose another "
                    "precision.",
                    "{card} 的矩阵单元不支持 {precision} 所需的数据类型，请换一种精度。"),
    "noEngine": ("{engine} does not run on {card}.", "{engine} 不支持 {card}。"),
    "noDrafts": ("{model} has no layer to draft with.", "{model} 没有可生成草稿的预测层。"),
    "stages": ("{model} has {layers} layers and cannot be cut into {pp} stages.",
               "{model} 共 {layers} 层，不能切成 {pp} 级流水线。"),
    "experts": ("EP {ep} does not go with TP {tp} × DP {dp} for {model} in {precision}; EP may be "
                "{list}.",
                "{model}（{precision}）在 TP {tp} × DP {dp} 下不能用 EP {ep}，可用的 EP：{list}。"),
    "tensor": ("TP {tp} does not divide {model} in {precision}; TP may be {list}.",
               "TP {tp} 不能整除 {model}（{precision}），可用的 TP：{list}。"),
    "noExperts": ("{model} has no experts to copy; take the redundant experts back.",
                  "{model} 没有可冗余的专家，请取消冗余专家的设定。"),
    "noneApart": ("{apart} ranks for shared experts alone need a model with shared experts, TP 1 "
                  "and the low-latency exchange.",
                  "{apart} 个只放共享专家的 rank 要求模型有共享专家、TP 为 1，且采用低延迟通信。"),
    "tooMany": ("More than {most} further inputs are set, expected at most {most}.",
                "另设的输入超过 {most} 项，最多 {most} 项。"),
    "bothLengths": ("The file states context_tokens beside input_tokens or output_tokens; the "
                    "calculators take one or the other.",
                    "文件同时写了 context_tokens 与 input_tokens 或 output_tokens，"
                    "计算器只接受其一。"),
    "kept": ("The last picture that could be computed is shown.", "仍显示上一个可以计算的结果。"),
    "tooLarge": ("The file is larger than 10 MB, expected a scenario file.",
                 "文件超过 10 MB，应为部署文件。"),
    "badLine": ("line {line}: '{text}' cannot be read, expected 'key: value' as in the file that "
                "this page writes.",
                "第 {line} 行：“{text}”无法识别，应为本页所写文件的“键: 值”形式。"),
    "twice": ("line {line}: '{key}' stands twice.", "第 {line} 行：“{key}”重复。"),
    "otherKey": ("line {line}: the calculators do not take '{key}'; `python -m calc estimate` "
                 "does.",
                 "第 {line} 行：计算器不支持“{key}”，请用 `python -m calc estimate`。"),
    "inLine": ("line {line}: {sentence}", "第 {line} 行：{sentence}"),
    "missing": ("The file lacks '{key}'.", "文件缺少“{key}”。"),
    "otherCluster": ("The cluster is another than the calculators have: expected {nodes} × {node} "
                     "with {devices} devices.",
                     "集群与计算器不符：应为 {nodes} × {node}，共 {devices} 卡。"),
    "notRead": ("The file could not be read.", "文件无法读取。"),
}


def by_language() -> dict[str, dict[str, str]]:
    """The dictionary of each language."""
    return {lang: {"lang": lang, **{key: text[place] for key, text in WORDS.items()}}
            for place, lang in enumerate(LANGUAGES)}
