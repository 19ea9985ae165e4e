"""Numbers, tables, figures and formulas in two languages; nothing of a single kind of entry."""
