"""Programs that make the data and compare the pages; nothing else imports them."""
