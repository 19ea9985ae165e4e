### ``import-model``: a model file from the ``config.json`` of a Hugging Face model.

help-config =
    .en = the config.json of a Hugging Face model
    .zh = Hugging Face 模型的 config.json

help-output =
    .en = write the model file there (NAME.yml) instead of printing it
    .zh = 把模型文件写到那里（NAME.yml），而不输出

help-name =
    .en = the model's name; by default what the configuration, its folder or its file says
    .zh = 模型名称；缺省取自配置、其目录或文件名

help-source =
    .en = where the configuration was read: a key of params/sources/, whose date is taken, or words; by default the model's name and the day of the file
    .zh = 配置的出处：params/sources/ 中的键（日期随之取用）或一段文字；缺省为模型名称与文件日期

help-family =
    .en = a file that describes the family of the configuration, as params/families/ has them; by default that of its model_type
    .zh = 描述该配置所属系列的文件，写法同 params/families/；缺省取其 model_type 的系列

help-force =
    .en = overwrite FILE where it exists
    .zh = FILE 已存在时覆盖

written =
    .en = written: { $path }
    .zh = 已写入：{ $path }

parameters =
    .en = model_type { $type }: { $total } parameters, { $active } active, { $routed } in routed experts.
    .zh = model_type { $type }：参数量 { $total }，激活 { $active }，路由专家 { $routed }。

format =
    .en = published weights: { $stated }, { $fits ->
        [one] taken as precision { $precision }
        [none] which fits no precision of params/precisions/; describe it in a file of your own, as those are, and name it under weights: in the model file
       *[unsaid] and no quantization is stated; where the files hold that type, add weights: with precision: bf16 or fp16, source: and kind: to the model file
    }.
    .zh = 发布的权重格式：{ $stated }，{ $fits ->
        [one] 取作精度 { $precision }
        [none] 与 params/precisions/ 中任何一种都不符；请照其写法自建一份，并在模型文件的 weights: 下写明
       *[unsaid] 未写明量化方式；若权重文件即为该类型，请在模型文件中加上 weights:，写明 precision: bf16 或 fp16、source: 与 kind:
    }。

fields =
    .en = { $what ->
        [used] used
        [implied] not stated as such
        [ignored] known to change no count
        [beside] beside the language model, not counted
       *[unknown] unknown, not used
    }: { $names }
    .zh = { $what ->
        [used] 已使用
        [implied] 未直接写明
        [ignored] 已知不影响计数
        [beside] 不属于语言模型，未计入
       *[unknown] 未知，未使用
    }：{ $names }

because =
    .en = { $field } ({ $why })
    .zh = { $field }（{ $why }）

no-name =
    .en = { $name }: not the name of a model file, expected one that ends in .yml.
    .zh = { $name }：不是模型文件名，应以 .yml 结尾。

configuration-itself =
    .en = { $name }: the configuration itself, expected another file.
    .zh = { $name }：即配置文件本身，应为另一个文件。

exists =
    .en = { $name }: the file exists, --force overwrites it.
    .zh = { $name }：文件已存在，--force 可覆盖。
