### ``calibrate``: fit a calibration to its measured rows, or hold a bench's results against what was predicted; ``--write`` stores it.

help-name =
    .en = an entry of params/calibrations/, or a path; or results of a bench that deploy planned, a folder or a file
    .zh = params/calibrations/ 中的一项或路径；或 deploy 所规划压测的结果，目录或文件

help-write =
    .en = store what was fitted in the calibration's file; of a bench, measurements and a calibration of your own
    .zh = 把拟合结果存入校准文件；对压测，则存为你自己的实测与校准

title =
    .en = { $name }: { $metric }, { $rows } rows
    .zh = { $name }：{ $metric }，{ $rows } 行

# number: the range of a prior
range =
    .en = 80% range
    .zh = 80% 范围

coordinate =
    .en = coordinate
    .zh = 坐标

covariance =
    .en = covariance
    .zh = 协方差

residuals =
    .en = residuals: { $noise } (standard deviation of the logarithm)
    .zh = 残差：{ $noise }（对数的标准差）

beyond =
    .en = outside its prior's range: { $names }
    .zh = 超出先验范围：{ $names }

fitted-to =
    .en = fitted to: { $extent }
    .zh = 拟合所用范围：{ $extent }

extent =
    .en = { $name } { $low } to { $high }
    .zh = { $name } { $low } 至 { $high }

# number: the name of a calibration
too-far =
    .en = calibration '{ $name }': its rows lie too far from every prediction to be fitted, expected rows that this deployment was measured with.
    .zh = 标定 '{ $name }'：各行离任何预测都太远，无法拟合，应为这一部署自己的实测行。
