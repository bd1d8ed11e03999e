cd /tmp/repo; S=; for p in 8192x8192 12288x2048 4096x4096; do for m in 16 64 128 256 512; do S=$S,${m}x$p; done; done
timeout -s INT 1350 expctl tune --target sm_90 --shapes ${S#,}
