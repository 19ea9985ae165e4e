"""Programs that work on the built site: print, search and check it; nothing else imports them."""
