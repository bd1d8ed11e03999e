/* The whole harness of the fault suite: standin test|benchmark|profile ARTIFACT, rivals ARTIFACT OUT, suite SIZE TIMES. The artifact is a number, the microseconds of
 * one iteration. They are spent, not only said, so that whoever holds a clock to them agrees; the jitter is the same every time,
 * so that the verdict is too. docs/HARNESS.md has the words.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static long now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000000000L + now.tv_nsec;
}

int main(int count, char **words)
{
	const char *channel = getenv("EXPCTL_RESULT_FD");
	int out = channel ? atoi(channel) : 1;
	long us = 0;
	if (count > 3 && !strcmp(words[1], "suite")) {
		FILE *times = fopen(words[3], "w");
		for (int each = 0; times && each < 13; each++)
			fprintf(times, "%d\n", 100 + atoi(words[2]));
		return !times || fclose(times);
	}
	FILE *artifact = count > 2 ? fopen(words[2], "r") : NULL;
	if (!artifact || fscanf(artifact, "%ld", &us) != 1 || us <= 0) {
		dprintf(out, "{\"event\":\"end\",\"ok\":false,\"reason\":\"the kernel is no number\"}\n");
		return 1;
	}
	if (!strcmp(words[1], "test")) {
		dprintf(out, "{\"event\":\"case\",\"name\":\"one\",\"ok\":true,\"facts\":{\"kernel\":%ld}}\n{\"event\":\"end\",\"ok\":true}\n", us);
		return 0;
	}
	if (!strcmp(words[1], "profile")) {
		dprintf(out, "{\"event\":\"fact\",\"name\":\"kernel\",\"value\":%ld,\"unit\":\"us\",\"kind\":\"exact_count\"}\n", us);
		while (count > 3)
			pause(); /* a profiler that hangs */
		dprintf(out, "{\"event\":\"end\",\"ok\":true}\n");
		return 0;
	}
	if (!strcmp(words[1], "rivals")) {
		char name[4096];
		snprintf(name, sizeof name, "%s/rivals.json", count > 3 ? words[3] : ".");
		FILE *found = fopen(name, "w");
		if (!found)
			return 1;
		fprintf(found, "{\"sizes\":[{\"name\":\"n\",\"flop\":4000,\"entries\":["
			"{\"name\":\"ours\",\"role\":\"ours\",\"ns\":[100,101,102]},"
			"{\"name\":\"another\",\"role\":\"rival\",\"ns\":[200,201,202]}]}]}\n");
		fclose(found);
		dprintf(out, "{\"event\":\"end\",\"ok\":true}\n");
		return 0;
	}
	char line[4096];
	unsigned jitter = 1;
	while (fgets(line, sizeof line, stdin)) {
		if (strstr(line, "\"begin\"")) {
			int tunes = strstr(line, "512") != NULL; /* sizes of a tuning name their shape, and a config after @ */
			dprintf(out, "{\"event\":\"ready\"%s}\n", tunes ? ",\"facts\":{\"config\":\"any\"}" : "");
		} else if (strstr(line, "\"time\"")) {
			const char *asked = strstr(line, "\"iterations\"");
			int iterations = asked ? atoi(strchr(asked, ':') + 1) : 1;
			char size[64] = "n";
			const char *named = strstr(line, "\"size\"");
			if (named)
				sscanf(named + 6, "%*[^\"]\"%63[^\"]", size);
			long spent = strstr(size, "@2,2,2,2,4,4") ? us * 65 / 100 : us;
			long total = 0; /* the clock outside is steady too: what a busy machine does to a request is not what is tried here */
			dprintf(out, "{\"event\":\"sample\",\"size\":\"%s\",\"ns\":[", size);
			for (int each = 0; each < iterations; each++) {
				jitter = jitter * 1103515245u + 12345u;
				long ns = spent * 1000 + (long)(jitter >> 16) % us, end = now_ns() + ns;
				while (now_ns() < end)
					;
				total += ns;
				dprintf(out, "%s%ld", each ? "," : "", ns);
			}
			dprintf(out, "],\"outside_ns\":%ld}\n", total + 1000);
		} else if (strstr(line, "\"check\"")) {
			dprintf(out, "{\"event\":\"checked\"}\n");
		} else {
			break;
		}
	}
	dprintf(out, "{\"event\":\"end\",\"ok\":true}\n");
	return 0;
}
