"""Make a first protocol.yaml for a repository that has none, from a template."""

import json
from importlib import resources


def protocol_text(*, name: str, scope: str, harness: str, build: tuple[str, ...], artifact: str) -> str:
    """Return the text of a first protocol.yaml. `scope` is the kernel's folder, `harness` the folder of its scripts, `build`
    the build command, `artifact` the file it writes.
    """
    import jinja2

    environment = jinja2.Environment(
        autoescape=False,  # noqa: S701  that escapes for HTML; `quoted` does for YAML
        variable_start_string="[[",  # `{{` may occur in YAML and in commands
        variable_end_string="]]",
        keep_trailing_newline=True,
        undefined=jinja2.StrictUndefined,
    )
    environment.filters["quoted"] = lambda value: json.dumps(value, ensure_ascii=False)
    template = environment.from_string(resources.files("expctl.views").joinpath("protocol.yaml.j2").read_text(encoding="utf-8"))
    return template.render(name=name, scope=scope, harness=harness, build=build, artifact=artifact)
