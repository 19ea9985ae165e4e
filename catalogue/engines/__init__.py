"""What serving engines accept and report, release by release; how it is extracted is in `tools`."""
