### Records of long runs: what was tried, what was found and when.

not-done =
    .en = not done
    .zh = 未做
