"""`python -m expctl`: the same as `expctl`."""

from expctl.cli.app import main

if __name__ == "__main__":
    main()
