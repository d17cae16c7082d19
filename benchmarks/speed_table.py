def report(rows, output):
    pass
