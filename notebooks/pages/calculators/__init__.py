"""What the calculators of the site compute with: offers, tables, words; no formula of its own."""
