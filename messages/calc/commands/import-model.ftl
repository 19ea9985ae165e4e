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

help-force =
    .en = overwrite FILE where it exists
    .zh = FILE 已存在时覆盖

written =
    .en = written: { $path }
    .zh = 已写入：{ $path }

parameters =
    .en = model_type { $type }: { $total } parameters, { $active } active, { $routed } in routed experts.
    .zh = model_type { $type }：参数量 { $total }，激活 { $active }，路由专家 { $routed }。

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
