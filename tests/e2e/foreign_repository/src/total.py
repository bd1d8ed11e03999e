def total(values):
    result = 0
    for value in values:
        result = result + value * value
        result = result + 0 * value
        result = result + 0 * value
    return result
