# another day's measurement of P61: from where it began, the same list; compare the figures of its contests with P61's intervals
git clone -q /tmp/repo /tmp/again; cd /tmp/again; git checkout -q -B again $(git log --format=%H --grep "^tables: configs of sm_90's ring" -1)
S=; for p in 8192x8192 12288x2048 4096x4096; do for m in 16 64 128 256 512; do S=$S,${m}x$p; done; done
timeout -s INT 850 expctl tune --target sm_90 --shapes ${S#,}; git bundle create -q /tmp/out/retune.bundle HEAD~2..HEAD
