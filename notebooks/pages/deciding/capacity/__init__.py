"""What the chapters on a day and on growth show: replicas, failures, tiers, cards; no formula."""
