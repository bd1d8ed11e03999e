# the example's rungs, after P14 (graphs): the host's pace scattered until then
cd /tmp/exc; for p in ${RUNGS:-P12 P5 P6 P7 P8 P10}; do t=$SECONDS; timeout 900 expctl run $p 2>&1 < /dev/null | while IFS= read -r l; do echo "$(date +%T) $l"; done > /tmp/out/ex.$p.log; echo "=== example $p exit ${PIPESTATUS[0]} after $((SECONDS-t)) s"; grep -vE '^[0-9:]* *round' /tmp/out/ex.$p.log | tail -24; done
