"""`recallbench completion`: the script by which a shell completes commands, options and names."""

from __future__ import annotations

import click

from recallbench.cli.command import argument, command

INSTALL = {
    "bash": "recallbench completion bash > ~/.local/share/bash-completion/completions/recallbench",
    "zsh": 'recallbench completion zsh > "${fpath[1]}/_recallbench"',
    "fish": "recallbench completion fish > ~/.config/fish/completions/recallbench.fish",
}
"""Where each shell looks for such a script when it starts."""


@command(
    argument("shell", "The shell: bash, zsh or fish.", type=click.Choice(tuple(INSTALL))),
    epilog='For this session alone: eval "$(recallbench completion bash)", and so for zsh; '
    "recallbench completion fish | source.",
)
def completion(shell: str) -> int:
    """Print the script that lets a shell complete commands, options and names; its last line says where it goes."""
    from click.shell_completion import get_completion_class

    from recallbench.cli.main import COMPLETE
    from recallbench.cli.program import program

    kind = get_completion_class(shell)
    assert kind is not None  # it is one of the three
    print(kind(program, {}, "recallbench", COMPLETE).source().strip("\n"))
    print(f"# For every new session: {INSTALL[shell]}")
    return 0
