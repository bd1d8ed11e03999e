git clone -q /tmp/repo /tmp/cal; cd /tmp/cal; git config user.name a; git config user.email a@b
sed 's/- {name: "n=4096", weight: 0.6, flop: 137438953472}/- {name: "n=8192", weight: 0.4, flop: 1099511627776}\n        - {name: "n=4096", weight: 0.3, flop: 137438953472}/; s/- {name: "n=2048", weight: 0.4, flop: 17179869184}/- {name: "n=1024", weight: 0.3, flop: 2147483648}/' benchmarks/verdict/live_sm_90.yaml > protocol.yaml
sed -i 's/quads: 4/quads: 4\n      respawn: 3/; s/most_s: 60/most_s: 20/' protocol.yaml; git commit -qam long-lived
echo "-- long-lived"; t=$SECONDS; timeout -s INT 330 expctl calibrate --target sm_90 --rounds 5; echo "exit $? after $((SECONDS-t)) s"; git show --stat HEAD | tail -2; cp -r ~/.local/state/expctl/calibrations /tmp/out/ 2>/dev/null
