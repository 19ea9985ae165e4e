### The two scripts that are made when the book is built: generated formulas, and their inputs.

not-named = not named
