"""The three ways in and the numbers to know: computed where no chapter does; no formula."""
