"""What stands on a page around its words: formulas, code, previews; nothing is run or filtered."""
