"""`python -m waitlab` is the same as `waitlab`."""

from waitlab.cli import main

main()
