"""What running a deployment shows: metrics, alerts, remedies, flags; nothing is laid out."""
