def load(path):
    names = {}
    with open(path) as file:
        exec(compile(file.read(), path, "exec"), names)
    return names["total"]
