T=$1; while [ $SECONDS -lt $T ] && ! { [ -f /tmp/q.done ] && { [ ! -f /tmp/b.log ] || [ -f /tmp/b.done ]; }; }; do sleep 1; done
at=$(cat /tmp/q.at 2>/dev/null || echo 0); wc -c < /tmp/q.log > /tmp/q.at; tail -c +$((at+1)) /tmp/q.log | cut -c1-220
at=$(cat /tmp/b.at 2>/dev/null || echo 0); [ -f /tmp/b.log ] && { wc -c < /tmp/b.log > /tmp/b.at; tail -c +$((at+1)) /tmp/b.log | cut -c1-200; }
cd /tmp/repo; b=$(cat /tmp/base); git log --oneline $b..HEAD | cat; git bundle create -q $OUT/repo.bundle $b..HEAD 2>/dev/null; git status --short | head -5
tar czf $OUT/out.tgz -C /tmp out; cat /tmp/q.log > $OUT/q.log; cat /tmp/b.log > $OUT/b.log 2>/dev/null; tar czf $OUT/logs.tgz .git/expctl/logs .git/expctl/tun* 2>/dev/null
ls -la $OUT; true
