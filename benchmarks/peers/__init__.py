"""Other packages at the same work, each in an environment of its own.

`work_NAME.py` is run by the interpreter of a throw-away environment in which nothing is installed but that package: it
reads one task as JSON from standard input and answers with one object of JSON. Nothing of rropt is imported there.
"""
