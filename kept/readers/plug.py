from expctl.adapters.steps import worker_pool
worker_pool.core_beside.__defaults__ = (__import__("pathlib").Path("/tmp/w/t/sys"),)
