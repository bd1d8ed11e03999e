"""The whole build of this repository: python copy.py SOURCE ARTIFACT."""

import sys

with open(sys.argv[1], "rb") as source, open(sys.argv[2], "wb") as artifact:
    artifact.write(source.read())
