### Deployments that the engineering chapters hold against each other, one knob apart.

card-and-precision =
    .en = { $card }, `{ $precision }`
    .zh = { $card }，`{ $precision }`
