import sys; sys.path.insert(0, "/tmp/w/batk47")
sys.argv = ["x", "24", "3"]
import expctl.flow.fleet.head as H
H.TOGETHER_MOST = 1
exec(open("s50_gc.py").read().replace('"gc")', '"gc2")').replace('"gcbase"', '"gcbase2"'))
