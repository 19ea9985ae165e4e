"""Downloads of the site: the wheel, notebooks, the site as a ZIP file, the edition of pages."""
