"""`python -m thalweg.cli`."""

from . import main

main()
