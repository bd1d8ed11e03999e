"""The command `expctl mcp`: serve agents by the Model Context Protocol."""


def mcp() -> None:
    """Serve one agent on standard input and output, by the Model Context Protocol (docs/AGENTS.md): it proposes and reads.

    Its tools work in the repository that contains the working directory. run and finding_add need `expctl agents grant`.
    """
    import gc
    from importlib.util import find_spec

    from expctl import wiring
    from expctl.domain.errors import Refused

    if find_spec("mcp") is None or find_spec("mcp_types") is None:
        raise Refused(
            "the package mcp is not installed",
            code="mcp-not-installed",
            expected="the official SDK, release 2.3 or later",
            found="none",
            hint="pip install 'expctl[agents]', from where expctl was installed",
        )
    wiring.here()  # outside of a repository nothing could be answered
    from expctl.agents.server import serve

    gc.freeze()
    serve(wiring.here)
