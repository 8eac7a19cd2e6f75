"""A checkpoint that is not portable keeps its step where it can be used."""

import pytest

from hetero_ops import Catalog, Checkpoint, Fleet, Requirement
from hetero_ops.runtime.bound import bound_to, kept
from hetero_ops.runtime.checkpoint import Place
from tests.placement.sample import node
from tests.runtime.folders import dcp, ours

WEST = Place("west", "nvidia")


def two_clusters():
    clusters = [
        {"name": "west", "nodes": [node("w-nv", "8xH100-SXM5-80GB"), node("w-amd", "8xMI300X")]},
        {"name": "east", "nodes": [node("e-nv", "8xH100-SXM5-80GB")]},
    ]
    return Fleet.from_document({"apiVersion": "hetero-ops/v1", "kind": "Fleet", "clusters": clusters})


class TestBoundTo:
    def bound(self, directory, **settings):
        return Checkpoint(dir=str(directory), portable=False, **settings)

    def test_where_it_was_saved(self, tmp_path, monkeypatch):
        monkeypatch.setenv("HETERO_OPS_CLUSTER", "west")
        monkeypatch.setenv("HETERO_OPS_VENDOR", "nvidia")
        ours(tmp_path, 1)
        assert bound_to(self.bound(tmp_path), str(tmp_path), Place("east", "amd")) == WEST

    def test_where_the_last_try_ran_if_it_does_not_say(self, tmp_path):
        dcp(tmp_path, "step-1")
        assert bound_to(self.bound(tmp_path), str(tmp_path), WEST) == WEST
        assert bound_to(self.bound(tmp_path), str(tmp_path)) == Place()

    def test_of_a_url_where_the_last_try_ran(self):
        assert bound_to(self.bound("s3://bucket"), "s3://bucket", WEST) == WEST
        assert bound_to(self.bound("s3://bucket"), "s3://bucket") == Place()

    def test_nothing_binds_what_is_portable_or_begins_anew(self, tmp_path):
        assert bound_to(self.bound(tmp_path), str(tmp_path), WEST) == Place()  # nothing is saved
        dcp(tmp_path, "step-1")
        assert bound_to(Checkpoint(dir="x"), str(tmp_path), WEST) == Place()
        assert bound_to(self.bound(tmp_path, resume="none"), str(tmp_path), WEST) == Place()
        assert bound_to(None, None, WEST) == Place()


class TestKept:
    def place(self, asked, place, *, taken=()):
        fleet = two_clusters()
        for each in taken:
            fleet.commit(fleet.place(each))
        return fleet.place(kept(Requirement.parse(asked), place, fleet.catalog))

    @pytest.mark.parametrize(
        ("asked", "place", "nodes"),
        [
            ("gpu:8", Place("east"), ["e-nv"]),
            ("gpu:8", Place("west", "amd"), ["w-amd"]),
            ("H100:8 | MI300X:8", WEST, ["w-nv"]),
            ("H100:8 | MI300X:8", Place("west", "amd"), ["w-amd"]),
            ("H100,MI300X:8", Place(None, "amd"), ["w-amd"]),
            ("amd/*:8 | nvidia/*:8", WEST, ["w-nv"]),
            ("amd:gpu:8 | gpu:8", WEST, ["w-nv"]),
            ("H100:8 cluster=east,west", WEST, ["w-nv"]),
            ("H100:8 cluster=east | H100:8", WEST, ["w-nv"]),
            ("cpu:4 | H100:8", WEST, ["w-nv"]),
        ],
    )
    def test_it_goes_there_and_nowhere_else(self, asked, place, nodes):
        assert self.place(asked, place).nodes == nodes

    def test_it_waits_rather_than_going_elsewhere(self):
        answer = self.place("H100:8 | MI300X:8", WEST, taken=["H100:8 cluster=west"])
        assert answer.verdict == "busy"
        assert "LOCATION" in answer.codes

    def test_places_of_choices_and_the_yardstick_stay(self):
        asked = Requirement.parse("H100:8 | MI300X:8 perf>=0.5 | gpu:8")
        there = kept(asked, Place("west", "amd"), Catalog.default())
        assert len(there.choices) == 3
        answer = two_clusters().place(there)
        assert (answer.choice_index, answer.nodes) == (1, ["w-amd"])

    def test_a_place_of_which_nothing_is_known_binds_nothing(self):
        asked = Requirement.parse("H100:8 | MI300X:8")
        assert kept(asked, Place(), Catalog.default()) is asked
