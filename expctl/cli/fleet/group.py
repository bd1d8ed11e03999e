"""The commands `expctl fleet up|join|status|down`: several machines judge the experiments of one queue."""

import re
from pathlib import Path
from typing import Annotated

import typer

app = typer.Typer(no_args_is_help=True)
NAME = re.compile(r"[A-Za-z0-9][\w.-]{0,39}", re.ASCII)
GPU = re.compile(r"\d{1,3}|GPU-[\w-]{1,60}", re.ASCII)

FolderOption = Annotated[
    Path | None, typer.Option("--folder", metavar="DIR", help="Where this machine keeps what it knows of its fleet.")
]


@app.command()
def up(
    address: Annotated[
        str, typer.Option(metavar="HOST", help="The address of this machine at which workers join; default: this machine only.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Default: the one of last time, else a free one.")] = 0,
    folder: FolderOption = None,
) -> None:
    """Begin a fleet with this machine as its head, until Ctrl-C. Experiments then run by expctl run --all --on fleet."""
    from expctl import wiring_fleet
    from expctl.cli.output import print_lines

    wiring_fleet.up(folder, address, port, told=lambda words: print_lines([words]))


@app.command()
def join(
    address: Annotated[
        str, typer.Argument(metavar="[ADDRESS]", help="HOST:PORT as fleet up has printed it; default: the one of this machine.")
    ] = "",
    token_file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="A copy of the file that fleet up has named; needed with ADDRESS.")
    ] = None,
    name: Annotated[
        str, typer.Option(help="The worker's name in records; default: worker- and the end of the device's id.")
    ] = "",
    own_address: Annotated[
        str, typer.Option(metavar="HOST", help="This machine's address, as the head sees it; default: found out.")
    ] = "",
    gpu: Annotated[str, typer.Option(metavar="INDEX|ID", help="Which GPU of this machine to offer; default: the first.")] = "",
    folder: FolderOption = None,
) -> None:
    """Offer this machine's device to a fleet, until Ctrl-C. It waits for the head, and joins again after that was away."""
    from expctl import wiring_fleet
    from expctl.cli.output import print_lines
    from expctl.domain.errors import Misused
    from expctl.domain.text import one_line

    if bool(address) != (token_file is not None):
        raise Misused(
            "join needs an address and a token file, or neither",
            code="fleet-join-half",
            expected="expctl fleet join on the head's machine, expctl fleet join HOST:PORT --token-file FILE elsewhere",
            found="ADDRESS alone" if address else "--token-file alone",
            hint="expctl fleet up prints the whole command",
        )
    if name and not NAME.fullmatch(name):
        raise Misused(
            "--name is no name for a worker",
            code="fleet-bad-name",
            expected="1 to 40 letters, digits, dots, underscores and hyphens, the first a letter or digit",
            found=one_line(name, 60),
            hint="expctl fleet join --name rack2",
        )
    if gpu and not GPU.fullmatch(gpu):
        raise Misused(
            "--gpu is neither an index nor an id",
            code="fleet-bad-gpu",
            expected="a number such as 1, or an id that begins with GPU-",
            found=one_line(gpu, 60),
            hint="expctl fleet join --gpu 1; nvidia-smi -L lists the cards of NVIDIA's",
        )
    wiring_fleet.join(
        folder,
        address,
        token_file,
        name=name,
        own_address=own_address,
        gpu=gpu,
        told=lambda words: print_lines([words]),
    )


@app.command()
def status(folder: FolderOption = None) -> None:
    """List the devices of the fleet that was begun on this machine."""
    from expctl import wiring_fleet
    from expctl.cli.output import print_lines

    print_lines(wiring_fleet.status(folder))


@app.command()
def down(folder: FolderOption = None) -> None:
    """End the fleet of this machine, and what joined from here."""
    from expctl import wiring_fleet
    from expctl.cli.output import print_lines

    print_lines(wiring_fleet.down(folder))


@app.command(hidden=True)
def work(
    folder: Annotated[Path, typer.Argument(help="The worker's folder.")],
    pack: Annotated[Path, typer.Argument(help="A file with git's objects.")],
) -> None:
    """Do one job of a worker, which stands on standard input. The worker starts this itself."""
    from expctl import wiring_fleet

    wiring_fleet.work_on_job(folder, pack)
