"""Runs, emulations, sweeps and reproductions with their folders: below the commands and the studio."""
