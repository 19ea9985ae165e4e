"""Programs that work on the built site: print it, search it, pack it; nothing else imports them."""
