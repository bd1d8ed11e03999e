# follow.sh SECONDS: waits, prints what each lane's log has new, and packs what came out
T=$1; while [ $SECONDS -lt $T ] && ! { [ -f /tmp/L/all.done ]; }; do sleep 1; done
for l in x a b c d; do f=/tmp/L/$l.log; [ -f $f ] || continue; at=$(cat /tmp/L/$l.at 2>/dev/null || echo 0); wc -c < $f > /tmp/L/$l.at; echo "##### $l"; tail -c +$((at+1)) $f | grep -v '^ *$' | cut -c1-170 | tail -${LINES_MOST:-60}; done
B=$(cat /tmp/base); cd /tmp
for r in repo r1; do [ -d /tmp/$r ] && git -C /tmp/$r bundle create -q $OUT/$r.bundle $B..HEAD 2>/dev/null; done
for r in exc; do [ -d /tmp/$r ] && git -C /tmp/$r bundle create -q $OUT/$r.bundle $(cat /tmp/exbase)..HEAD $(git -C /tmp/$r for-each-ref --format='%(refname)' refs/expctl) 2>/dev/null; done
for r in repo r1 exc exd; do [ -d /tmp/$r ] && { echo "-- $r"; git -C /tmp/$r log --oneline -4 | cat; git -C /tmp/$r status --short | head -3; }; done
tar czf $OUT/out.tgz -C /tmp out; tar czf $OUT/logs.tgz -C /tmp L $(cd /tmp; ls -d repo/.git/expctl/logs r1/.git/expctl/logs exc/.git/expctl/logs exd/.git/expctl/logs 2>/dev/null); ls -la $OUT; true
