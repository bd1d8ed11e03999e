# cold.sh REPO PATCH: rules check without anything kept
cd $1; rm -rf .git/expctl/meanings; s=$(date +%s.%N); PYTHONPATH=$1 /tmp/w/long/.venv/bin/python -m expctl rules check $2 | head -3; e=$(date +%s.%N); echo "$(echo "$e - $s" | bc) s, compiled $(ls .git/expctl/meanings/compiled | wc -l), sources $(ls .git/expctl/meanings/sources | wc -l)"
