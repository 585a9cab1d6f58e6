"""What `lint` warns of. `table` lists every rule once; the other modules hold their checks."""
