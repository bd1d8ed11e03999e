# card 3: free (tune --target sm_90 anew after P62)
cd /tmp; git clone -q /tmp/repo /tmp/tn; cd /tmp/tn; timeout -s INT 1000 expctl tune --target sm_90; git bundle create -q /tmp/out/tune.bundle $(cat /tmp/base)..HEAD
