"""The service answers what the same fleet answers in this process, byte by byte where it is text."""

import json

import httpx
import pytest

from hetero_ops import Fleet, InvalidRequirement, NoFit
from hetero_ops.errors import HeteroOpsError, InvalidDocument, NotAllowed, ServiceUnusable, UnknownReservation
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.ledger.reservation import Reservation
from hetero_ops.service import fault
from hetero_ops.service.client import ServiceClient
from hetero_ops.service.connect import connect
from hetero_ops.service.warm import WarmFleet
from tests.service.running import MIXED, running

ASKED = (
    "gpu:1 >=24GB",
    "H100:8 | MI300X:8 where >=80GB bf16 fabric",
    "gpu:0.25 >=4GB",
    "cpu:16",
    "H100:64 fabric",
    '{"choices": ["gpu:2"], "priority": 5, "team": "vision"}',
)
WEIGHTS = {"performance": 10, "topology": 20, "fragmentation": 30, "power": 40}
OWNER = Owner("task", "train 1")


@pytest.fixture
def client(service):
    with ServiceClient(service.url, service.tokens["admin"]) as opened:
        yield opened


@pytest.fixture
def near(tmp_path):
    opened = connect(MIXED, ledger=str(tmp_path / "ledger.db"))
    yield opened
    opened.close()


@pytest.mark.parametrize("requirement", ASKED)
def test_place_gives_the_bytes_of_the_command(service, requirement):
    body = {"requirement": requirement, "seed": 7}
    headers = {"Authorization": f"Bearer {service.tokens['read']}"}
    answer = httpx.post(f"{service.url}/v1/place", json=body, headers=headers)
    assert answer.text == Fleet.load(MIXED).place(requirement, seed=7).to_json() + "\n"


@pytest.mark.parametrize("requirement", ASKED)
@pytest.mark.parametrize("settings", [{}, {"policy": "classic", "seed": 3, "key": "k", "weights": WEIGHTS}])
def test_decisions_and_explanations_are_equal(client, near, requirement, settings):
    assert client.place(requirement, **settings) == near.place(requirement, **settings)
    assert client.explain(requirement, **settings) == near.explain(requirement, **settings)


@pytest.mark.parametrize(
    "arguments",
    [
        ("place", "H100:8 | MI300X:8 where >=80GB bf16 fabric"),
        ("place", "gpu:1", "--json"),
        ("place", "A100:2", "--format", "env"),
        ("place", "A100:2"),
        ("place", "H100:64 fabric"),
        ("place", "no-such-gpu:1"),
        ("explain", "tier-a:2"),
        ("explain", "gpu:1", "--json", "--policy", "classic"),
    ],
)
def test_the_commands_print_the_same(service, command, monkeypatch, arguments):
    monkeypatch.setenv("HETERO_OPS_TOKEN", service.tokens["read"])
    here = command(*arguments, "--fleet", MIXED)
    assert command(*arguments, "--fleet", service.url) == here
    monkeypatch.setenv("HETERO_OPS_FLEET", "nothing.yaml")
    monkeypatch.setenv("HETERO_OPS_SERVICE_URL", service.url)
    assert command(*arguments) == here


def test_a_fleet_that_is_named_wins_over_the_service(command, monkeypatch):
    monkeypatch.setenv("HETERO_OPS_SERVICE_URL", "http://127.0.0.1:1")
    assert command("place", "gpu:1", "--fleet", MIXED).code == 0


def test_commands_that_need_the_fleet_itself_say_so(service, command):
    told = command("frag", "--fleet", service.url)
    assert told.code == 65
    assert f"curl {service.url}/v1/fleet" in told.err


def test_what_belongs_to_the_service_is_refused_beside_its_url(service, command):
    told = command("place", "gpu:1", "--fleet", service.url, "--measured", "table.csv")
    assert told.code == 2
    assert "hetero-ops serve" in told.err


def test_a_token_that_may_not_ends_the_command(service, command, monkeypatch):
    monkeypatch.setenv("HETERO_OPS_TOKEN", "wrong")
    told = command("place", "gpu:1", "--fleet", service.url)
    assert told.code == 65
    assert "the service does not know" in told.err


def test_booking_is_the_same_on_both_sides(client, near):
    booked = [
        placer.book({"choices": ["gpu:2 >=16GB"], "team": "vision"}, OWNER, lease_s=30) for placer in (client, near)
    ]
    there, here = ({**each.to_dict(), "id": "", "since_ms": 0, "heartbeat_ms": 0} for each in booked)
    assert there["terms"].pop("token") == "admin"
    assert there == here
    for placer, reservation in zip((client, near), booked, strict=True):
        assert placer.place("gpu:2 >=16GB").devices != reservation.holds[0]["devices"]
        placer.heartbeat(reservation.id, checkpoint_ms=5)
        ended = placer.release(reservation.id)
        assert (ended.state, ended.checkpoint_ms) == ("released", 5)
        with pytest.raises(UnknownReservation):
            placer.heartbeat(reservation.id)
        with pytest.raises(UnknownReservation):
            placer.release(reservation.id)


def test_no_fit_is_an_answer_when_booking(client, near):
    asked = "H100:64 fabric"
    assert isinstance(client.book(asked, OWNER), NoFit)
    assert client.book(asked, OWNER) == near.book(asked, OWNER)


@pytest.mark.parametrize(
    ("asked", "settings"),
    [
        ("gpu:1 bla=", {}),
        ("no-such-gpu:1", {}),
        ("gpu:0", {}),
        ("gpu:1", {"policy": "best"}),
        ("gpu:1", {"weights": {"luck": 3}}),
        ({"choices": [{"perf": -1}]}, {}),
    ],
)
def test_mistakes_are_the_same(client, near, asked, settings):
    told = []
    for placer in (client, near):
        with pytest.raises(InvalidRequirement) as caught:
            placer.place(asked, **settings)
        told.append((str(caught.value), caught.value.path))
    assert told[0] == told[1]


def test_a_seed_that_is_none_is_refused_on_both_sides(client, near):
    for placer in (client, near):
        with pytest.raises(InvalidRequirement, match="seed"):
            placer.place("gpu:1", seed=-1)


def test_every_error_arrives_as_what_it_was():
    for kind, status in fault._STATUS:
        error = kind("what is wrong", "choices[1]") if kind in {InvalidRequirement, InvalidDocument} else kind("wrong")
        again = fault.error_of("http://there", fault.status_of(error), fault.document_of(error))
        assert (type(again), str(again), vars(again)) == (kind, str(error), vars(error)), status


def test_what_is_no_answer_of_ours_is_the_services_fault():
    assert isinstance(fault.error_of("http://there", 502, "<html>"), ServiceUnusable)
    assert isinstance(fault.error_of("http://there", 401, {"message": "no"}), NotAllowed)


def test_a_service_that_is_not_there_is_told_after_some_tries():
    with ServiceClient("http://127.0.0.1:1") as client, pytest.raises(ServiceUnusable, match="hetero-ops serve"):
        client.place("gpu:1")


@pytest.mark.parametrize("url", ["127.0.0.1:8470", "ftp://there", "http://", "http://me:secret@there"])
def test_what_is_no_url_is_refused_without_showing_it(url):
    with pytest.raises(ServiceUnusable) as caught:
        ServiceClient(url)
    assert "secret" not in str(caught.value)


def test_ids_from_elsewhere_ask_for_nothing_else(client):
    for odd in ("../fleet", "a/b", "", "x?y", "ä"):
        with pytest.raises(HeteroOpsError):
            client.release(odd)


def test_a_decision_is_there_by_its_trace_id(client):
    asked = client.place("gpu:1", key="once")
    assert client.decision(asked.trace_id) == asked
    booked = client.book("gpu:1", OWNER)
    assert client.decision(booked.trace_id).trace_id == booked.trace_id
    client.release(booked.id)
    with pytest.raises(UnknownReservation, match="no decision"):
        client.decision("0" * 32)


def test_what_others_book_is_seen(tmp_path):
    with running(tmp_path) as service, ServiceClient(service.url, service.tokens["read"]) as client:
        before = client.overview()
        with Ledger.open(service.ledger) as ledger:
            other = WarmFleet.load(MIXED, ledger)
            booked = other.book("gpu:1", OWNER)
            assert isinstance(booked, Reservation)
            free = eventually_fewer(client, before)
            assert free == sum(row["free_devices"] for row in before) - 1
            assert [each.id for each in client.reservations()] == [booked.id]


def eventually_fewer(client, before):
    whole = sum(row["free_devices"] for row in before)
    for _ in range(100):
        free = sum(row["free_devices"] for row in client.overview())
        if free < whole:
            return free
    return whole


def test_another_document_takes_its_place(tmp_path):
    with running(tmp_path) as service, ServiceClient(service.url, service.tokens["admin"]) as client:
        document = client.document()
        nodes = document["clusters"][0]["nodes"]
        smaller = {**document, "clusters": [{**document["clusters"][0], "nodes": nodes[:1]}]}
        headers = {"Authorization": f"Bearer {service.tokens['admin']}"}
        put = httpx.put(f"{service.url}/v1/fleet", json=smaller, headers=headers)
        assert put.status_code == 200, put.text
        assert client.place("gpu:1") == Fleet.from_document(smaller).place("gpu:1")
        wrong = json.dumps(document, indent=1).replace('"devices"', '"devces"')
        wrong = httpx.put(f"{service.url}/v1/fleet", content=wrong, headers=headers)
        assert wrong.status_code == 400
        assert wrong.json()["error"] == "InvalidDocument"
        assert wrong.json()["line"] > 1
        assert client.document() == smaller
