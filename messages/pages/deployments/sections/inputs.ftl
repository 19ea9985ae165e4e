### Every input of a deployment with its source.

model-device-of-them-stored =
    .en = Model: { $model }, { $letters } ({ $cited }). Device: { $device }, { $devices } of them. Stored as: { $precision }. { $deployment }
    .zh = 模型：{ $model }，{ $letters }（{ $cited }）。设备：{ $device }，共 { $devices } 个。存储精度：{ $precision }。{ $deployment }

card-load-and-settings =
    .en = Card, load and settings
    .zh = 卡、负载与设置

other-inputs-of-physics-peaks =
    .en = Other inputs of the physics: peaks, links and the priors of mechanisms.
    .zh = 计算时间另外用到的输入：峰值、链路，以及各机制的先验。

peaks-and-links =
    .en = Peaks and links
    .zh = 峰值与链路

mechanisms =
    .en = Mechanisms
    .zh = 机制

engine-its-defaults-hold-where =
    .en = Engine: { $named } { $release }; its defaults hold where nothing is stated.
    .zh = 引擎：{ $named } { $release }，未写明之处取其默认做法。

no-release-of-engine-is =
    .en = No release of an engine is stated: values between those of { $names } are used.
    .zh = 未指明引擎版本：取值介于 { $names } 之间。
