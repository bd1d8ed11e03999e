"""`python -m expctl`: the same as `expctl`."""

from expctl.cli.entry import main

if __name__ == "__main__":
    main()
