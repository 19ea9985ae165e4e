"""Programs that work on the built site: print it, search it, check it; nothing else imports them."""
