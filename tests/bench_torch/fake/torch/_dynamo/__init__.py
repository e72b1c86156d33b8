class config:
    suppress_errors = True
