"""What tells others of the site: addresses, a picture per page, feed, map; no page is made."""
