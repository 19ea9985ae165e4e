"""Programs that make the project's data; nothing of the book or the runtime imports them."""
