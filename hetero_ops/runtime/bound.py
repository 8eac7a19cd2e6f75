"""Keeps a step where its checkpoint can be used: one that is not portable is worth waiting for."""

from hetero_ops.checkpoint import is_remote
from hetero_ops.gap.catalog import Catalog
from hetero_ops.gap.choice import Choice
from hetero_ops.gap.contract import Checkpoint
from hetero_ops.gap.meaning import profiles_meant
from hetero_ops.gap.requirement import Requirement
from hetero_ops.runtime.checkpoint import Place
from hetero_ops.runtime.saved import newest

# What no cluster is called; a refusal shows it.
_NOWHERE = "away-from-its-checkpoint"


def bound_to(contract: Checkpoint | None, directory: str | None, last: Place | None = None) -> Place:
    """Where the next try has to run, because of what is saved; a place of which nothing is known is anywhere.

    Args:
        contract: what the step agreed to.
        directory: where it saves.
        last: where the last try ran, for checkpoints that do not say where they were saved.
    """
    if contract is None or directory is None or contract.portable or contract.resume == "none":
        return Place()
    last = last or Place()
    if is_remote(directory):
        return last
    found = newest(directory)
    return Place() if found is None else Place(found.cluster or last.cluster, found.vendor or last.vendor)


def kept(requirement: Requirement, place: Place, catalog: Catalog) -> Requirement:
    """The same choices in the same order, each for that cluster and vendor only.

    A choice that is for others stays, so that the places of choices and the yardstick of `perf` do; it is refused with
    LOCATION. So the step waits where it would otherwise go on elsewhere and could not resume.

    Args:
        requirement: what the step asks for.
        place: where it has to run; what is unknown of it binds nothing.
        catalog: where names of models are looked up.
    """
    if place == Place():
        return requirement
    choices = tuple(_kept(choice, place, catalog) for choice in requirement.choices)
    return requirement.model_copy(update={"choices": choices})


def _kept(choice: Choice, place: Place, catalog: Catalog) -> Choice:
    is_there = place.cluster is None or not choice.clusters or place.cluster in choice.clusters
    if not is_there or not _may_be_of(choice, place.vendor, catalog):
        return choice.model_copy(update={"clusters": (_NOWHERE,)})
    clusters = choice.clusters if place.cluster is None else (place.cluster,)
    return choice.model_copy(update={"clusters": clusters, "vendor": place.vendor or choice.vendor})


def _may_be_of(choice: Choice, vendor: str | None, catalog: Catalog) -> bool:
    if vendor is None:
        return True
    if choice.accelerator_class == "cpu" or choice.vendor not in {None, vendor}:
        return False
    meant = [(name, profiles_meant(name, catalog)) for name in choice.names]
    # A model that only the fleet has may be of any vendor.
    return not meant or any(
        name.vendor in {None, vendor} and (not profiles or any(profile.vendor == vendor for profile in profiles))
        for name, profiles in meant
    )
