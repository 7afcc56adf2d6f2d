"""Groups of commands, and what is said of a command line that makes no sense.

The one place that knows typer's insides: it carries a click of its own without public names.
"""

import typer
from typer._click.core import Command, Context
from typer._click.exceptions import (
    BadOptionUsage,
    BadParameter,
    MissingParameter,
    NoArgsIsHelpError,
    NoSuchOption,
)
from typer._click.exceptions import UsageError as Misuse
from typer.core import TyperGroup

from rvbuild.cli.spelling import did_you_mean
from rvbuild.errors import UsageError


class CommandGroup(TyperGroup):
    """A group that answers an unknown command with the nearest ones."""

    def resolve_command(
        self, ctx: Context, args: list[str]
    ) -> tuple[str | None, Command | None, list[str]]:
        """Find the command that the first word names; raises `UsageError` when there is none."""
        if not ctx.resilient_parsing and self.get_command(ctx, args[0]) is None:
            known = [name for name, command in self.commands.items() if not command.hidden]
            raise UsageError(
                f"there is no command `{ctx.command_path} {args[0]}`",
                hint=did_you_mean(args[0], known),
            )
        return super().resolve_command(ctx, args)


def command_group(description: str, *, completion: bool = False) -> typer.Typer:
    """Make a group of commands that shows its help when no command is given."""
    return typer.Typer(
        cls=CommandGroup,
        help=description,
        no_args_is_help=True,
        add_completion=completion,
        # Without markup typer does not import rich, which takes longer than the rest of the help.
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
    )


def bare_help(error: BaseException) -> str | None:
    """Give the help that is owed to somebody who gave a group no command; None for other errors."""
    return error.message if isinstance(error, NoArgsIsHelpError) else None


def as_usage_error(error: BaseException) -> UsageError | None:
    """Reword typer's complaint about a command line; None for any other error."""
    if not isinstance(error, Misuse):
        return None
    path = error.ctx.command_path if error.ctx else ""
    more = f"`{path} --help` lists what it takes" if path else None
    if isinstance(error, NoSuchOption):
        return _no_such_option(error, path)
    if isinstance(error, BadOptionUsage):
        return UsageError(f"`{error.option_name}` needs a value")
    if isinstance(error, MissingParameter):
        return UsageError(f"`{path}` needs {_parameter(error)}", hint=more)
    if isinstance(error, BadParameter):
        # What is behind the comma speaks of parsers.
        reason = _lower(error.message).partition(",")[0].replace("input should", "it should")
        return UsageError(f"{_parameter(error)} makes no sense: {reason}", hint=more)
    return UsageError(_lower(error.message), hint=more)


def _no_such_option(error: NoSuchOption, path: str) -> UsageError:
    option = error.option_name
    context = error.ctx
    message = f"there is no option `{option}`" + (f" for `{path}`" if path else "")
    if context is None:
        return UsageError(message)
    if context.parent is not None and option in _options(context.find_root()):
        program = context.find_root().command_path
        command = path.removeprefix(program).strip()
        return UsageError(
            message, hint=f"write it before the command: `{program} {option} … {command}`"
        )
    return UsageError(message, hint=did_you_mean(option, _options(context)))


def _options(context: Context) -> list[str]:
    parameters = context.command.get_params(context)
    return [
        name
        for parameter in parameters
        if parameter.param_type_name == "option"
        for name in (*parameter.opts, *parameter.secondary_opts)
    ]


def _parameter(error: BadParameter) -> str:
    """Name a parameter as it is typed."""
    if error.param is None:
        return "a value"
    if error.param.param_type_name == "option":
        return f"`{error.param.opts[-1]}`"
    return f"`{error.param.display_name_raw}`"


def _lower(message: str) -> str:
    return message[:1].lower() + message[1:].rstrip(".")
