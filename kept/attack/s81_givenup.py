exec(open("s80_git.py").read().split("play(\"slow\"")[0])
wrap("[ $((RANDOM % 9)) = 0 ] && { echo 'fatal: odd' >&2; exit 128; }")
for t in range(6):
    r = copy(base, "gu"); c, said = forked(r, before=withbin, limit_s=20)
    left = {x.name: ("GivenUp" in x.read_text() and x.read_text().split("GivenUp")[1][:130]) for x in (r / ".git/expctl/fleet/attempts").glob("*")}
    print(t, c, [x[1] for x in commits(r)], {k: v for k, v in left.items() if v}, [x.name for x in (r / ".git/expctl/journal").glob("*")], flush=True)
