# the example's rungs: P14 (graphs) first, because the host's pace scatters until then
cd /tmp/exc; for p in P5 P6 P7 P8 P10 P12; do t=$SECONDS; timeout 900 expctl run $p 2>&1 | grep -vE '^ *round' | tail -9; echo "=== example $p exit ${PIPESTATUS[0]} after $((SECONDS-t)) s"; done
