"""What is published of a machine is whole, and the same each time."""

import re

import pytest
from cupboard import machine as cupboard

from anchorhold_spec.language import UnknownChoice
from anchorhold_spec.machines import load, names
from anchorhold_spec.publish.murphi import export_murphi
from anchorhold_spec.publish.tla import export_tla

MACHINES = [*(load(name) for name in names()), cupboard]


def by_name(machine):
    return machine.name


@pytest.mark.parametrize("machine", MACHINES, ids=by_name)
def test_the_tla_module_defines_every_action_and_every_property(machine):
    module = export_tla(machine).module

    defined = re.findall(r"^(\w+)(?:\([^)]*\))? ==", module, re.MULTILINE)
    assert len(set(defined)) == len(defined)
    parts = len(machine.actions) + len(machine.invariants) + len(machine.transitions) + 2 * len(machine.sometimes)
    derived = sum(sort.kind in ("enum", "ordered") or bool(machine.parts_of(sort)) for sort in machine.sorts)
    others = {"vars", "TypeOK", "Init", "Next", "Spec"}
    assert len(set(defined) - others) == parts + 2 * len(machine.progress) + derived


@pytest.mark.parametrize("machine", MACHINES, ids=by_name)
def test_the_configuration_checks_every_public_property(machine):
    export = export_tla(machine)

    assert {each.name for each in (*machine.public, *machine.transitions)} == set(export.properties.values())
    for operator in export.properties:
        assert re.search(rf"^  {operator}$", export.config, re.MULTILINE)
        assert re.search(rf"^{operator} ==", export.module, re.MULTILINE)


@pytest.mark.parametrize("machine", MACHINES, ids=by_name)
def test_auxiliary_invariants_are_checked_only_on_demand(machine):
    plain, full = export_tla(machine), export_tla(machine, auxiliary=True)

    assert {each.name for each in machine.invariants} <= set(full.properties.values())
    assert len(full.properties) - len(plain.properties) == len(machine.invariants) - len(machine.public)
    assert plain.module == full.module


@pytest.mark.parametrize("machine", MACHINES, ids=by_name)
def test_exports_are_ascii_and_the_same_each_time(machine):
    texts = [*export_tla(machine).files().values(), export_murphi(machine)]

    assert texts == [*export_tla(machine).files().values(), export_murphi(machine)]
    for text in texts:
        assert text.isascii()


def test_the_module_does_not_depend_on_sizes_and_switches():
    one = export_tla(cupboard, sizes={"tins": 0, "crates": 1}, switches={"locked": "yes"})
    other = export_tla(cupboard)

    assert one.module == other.module
    assert 'locked = "yes"' in one.config
    assert one.model != other.model


@pytest.mark.parametrize("export", [export_tla, export_murphi])
def test_choices_that_do_not_exist_are_refused(export):
    with pytest.raises(UnknownChoice, match="no switch 'colour'"):
        export(cupboard, switches={"colour": "red"})
    with pytest.raises(UnknownChoice, match="locked of odd cupboard is one of no, yes"):
        export(cupboard, switches={"locked": "perhaps"})
    with pytest.raises(UnknownChoice, match="no size drawers"):
        export(cupboard, sizes={"drawers": 2})


def test_symmetry_is_declared_on_demand_for_interchangeable_sorts_alone():
    assert "SYMMETRY" not in export_tla(cupboard).config

    export = export_tla(cupboard, symmetry=True)
    assert "SYMMETRY MCSymmetry" in export.config
    assert "MCSymmetry == MCPermutations(MC_Shelf)\n" in export.model


def test_rules_over_an_empty_part_are_left_out_of_murphi():
    none, one = ({"tins": tins, "crates": 1, "shelves": 1, "levels": 1} for tins in (0, 1))

    assert "table_spare" not in export_murphi(cupboard, sizes=none)
    assert "table_spare" in export_murphi(cupboard, sizes=one)
