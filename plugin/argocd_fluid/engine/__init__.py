"""Pure: usage, decide, negotiate, resize plan. No clock, network, randomness or logging inside."""
