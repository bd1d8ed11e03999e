/* Sum of squares. */
long total(const long *values, long count)
{
    long result = 0;
    for (long i = 0; i < count; i++)
        result += values[i] * values[i];
    return result;
}
