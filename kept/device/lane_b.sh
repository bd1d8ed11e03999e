bash /tmp/sm/lane_c.sh
