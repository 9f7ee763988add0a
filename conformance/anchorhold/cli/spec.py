"""`anchorhold spec`: read the rule catalogue."""

import json
from difflib import get_close_matches
from typing import Annotated, Any, NoReturn

import typer
from rich import box
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from anchorhold.cli.spec_export import export
from anchorhold_spec.catalogue import FAMILIES, LEVELS, RULES, Level, Rule, near

app = typer.Typer(
    name="spec",
    help="What a transcript compactor must hold: the rules, their families and the levels that demand them.",
    no_args_is_help=True,
)

_WIDTH = 100

Json = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]


app.command("export")(export)


@app.command("list")
def list_rules(
    *,
    level: Annotated[
        str | None,
        typer.Option(metavar="LEVEL", help="All that this level demands: 1 to 5, or its name."),
    ] = None,
    family: Annotated[
        str | None, typer.Option(metavar="FAMILY", help="The rules of one family: its three letters, as in ANC.")
    ] = None,
    as_json: Json = False,
) -> None:
    """List the rules: id, title, the first level that demands it, its sources, and whether a machine can state it."""
    wanted = None if level is None else _level(level)
    letters = None if family is None else _family(family)
    chosen = [
        rule
        for rule in RULES.values()
        if (wanted is None or rule.id in wanted.rules) and (letters is None or rule.family == letters)
    ]
    if as_json:
        _print_json({"rules": [_document(rule) for rule in chosen]})
        return
    console = _console()
    console.print(_table(chosen))
    console.print(
        Text(
            f"{len(chosen)} rules. Level: the first that demands it; each level includes the ones before. "
            "Machine: yes where the rule speaks of states and steps, so that a state machine can state it. "
            "The rule itself: anchorhold spec show ID",
            style="dim",
        )
    )


@app.command("show")
def show_rule(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A rule's id, as in ANC-1, or a machine's name.")],
    *,
    as_json: Json = False,
) -> None:
    """Show one rule: what it says, where it comes from, which level demands it, and how it is held to.

    Or one machine, in Markdown: its vocabulary, actions and properties.
    """
    rule = RULES.get(name.strip().upper())
    if rule is None:
        _show_machine(name.strip(), as_json=as_json)
        return
    properties = _stated(rule)
    if as_json:
        _print_json({**_document(rule), "stated_by": properties})
        return
    console = _console()
    level = LEVELS[rule.level]
    console.print(Text.assemble((rule.id, "bold cyan"), "  ", (rule.title, "bold")))
    console.print(Padding(Text(rule.statement), (1, 0, 1, 2)))
    facts = Table.grid(padding=(0, 2))
    facts.add_column(style="dim", no_wrap=True)
    facts.add_column()
    facts.add_row("  family", Text(f"{FAMILIES[rule.family].title}: {FAMILIES[rule.family].about}"))
    facts.add_row("  level", Text(f"{level.number} ({level.name}): {level.promise}"))
    facts.add_row("  sources", Text(", ".join(rule.sources)))
    if rule.not_modelled_because is None or rule.checked_by is None:
        facts.add_row("  machine", Text("states and steps: a state machine can state it (see anchorhold prove)"))
        for number, each in enumerate(properties):
            told = f"{each['machine']}: {each['property']} ({each['kind']}, by {each['shown_by']})"
            facts.add_row("" if number else "  stated by", Text(told))
    else:
        facts.add_row("  machine", Text(f"none. {rule.not_modelled_because}"))
        facts.add_row("  held by", Text(rule.checked_by))
    console.print(facts)


def _stated(rule: Rule) -> list[dict[str, str]]:
    """The properties that state the rule, as the matrix in spec/README.md has them."""
    if not rule.modelled:
        return []
    # The language of machines is not loaded for listing the rules.
    from anchorhold_spec import machines
    from anchorhold_spec.publish.coverage import stated

    found = stated(machines.load(name) for name in machines.names()).get(rule.id, [])
    return [
        {
            "machine": each.machine,
            "property": each.name,
            "kind": each.kind,
            "shown_by": "proof" if each.proved else "exploration",
        }
        for each in found
    ]


def _show_machine(name: str, *, as_json: bool) -> None:
    """A machine where one is called so; otherwise what was meant, and the end of the command."""
    # The language of machines is not loaded for the rules alone.
    from anchorhold_spec import machines

    if name in machines.names():
        if as_json:
            _fail(f"{name} is a machine, and --json is for rules: anchorhold spec export tla|murphi|markdown {name}")
        from anchorhold_spec.publish.markdown import machine_page

        typer.echo(machine_page(machines.load(name)), nl=False)
        return
    if name.upper() in FAMILIES:
        _fail(f"{name!r} is a family of rules: anchorhold spec list --family {name.upper()}")
    if any(name.lower() == level.name for level in LEVELS.values()):
        _fail(f"{name!r} is a level: anchorhold spec list --level {name.lower()}")
    meant = get_close_matches(name.lower(), machines.names()) or near(name)
    hint = f"did you mean {' or '.join(meant)}?" if meant else "`anchorhold spec list` lists the rules."
    _fail(f"neither a rule nor a machine is called {name!r}: {hint} The machines: {', '.join(machines.names())}")


def _table(rules: list[Rule]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, show_edge=False, padding=(0, 1), header_style="bold")
    table.add_column("Rule", style="cyan", no_wrap=True)
    table.add_column("Title", max_width=52)
    table.add_column("Level", no_wrap=True)
    table.add_column("Sources", no_wrap=True)
    table.add_column("Machine", no_wrap=True)
    family = rules[0].family if rules else ""
    for rule in rules:
        if rule.family != family:
            table.add_section()
            family = rule.family
        table.add_row(
            rule.id,
            Text(rule.title),
            f"{rule.level} {LEVELS[rule.level].name}",
            " ".join(rule.sources),
            "yes" if rule.modelled else "-",
        )
    return table


def _level(text: str) -> Level:
    for level in LEVELS.values():
        if text.strip().lower() in {str(level.number), level.name}:
            return level
    names = ", ".join(f"{level.number} ({level.name})" for level in LEVELS.values())
    return _fail(f"no level is called {text!r}: give {names}.")


def _family(text: str) -> str:
    letters = text.strip().upper()
    if letters not in FAMILIES:
        _fail(f"no family is called {text!r}: give {', '.join(FAMILIES)}.")
    return letters


def _document(rule: Rule) -> dict[str, Any]:
    return {
        "id": rule.id,
        "family": rule.family,
        "title": rule.title,
        "statement": rule.statement,
        "sources": [str(source) for source in rule.sources],
        "level": rule.level,
        "modelled": rule.modelled,
        "not_modelled_because": rule.not_modelled_because,
        "checked_by": rule.checked_by,
    }


def _console() -> Console:
    """Standard output, no wider than the table is made for."""
    console = Console(highlight=False)
    return Console(highlight=False, width=min(console.width, _WIDTH))


def _print_json(document: dict[str, Any]) -> None:
    typer.echo(json.dumps(document, ensure_ascii=False, indent=2))


def _fail(message: str) -> NoReturn:
    typer.echo(f"anchorhold: {message}", err=True)
    raise typer.Exit(2)
