"""The example's processor in a real engine, predicted from its table; nothing is fitted to it."""
