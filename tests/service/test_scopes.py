"""Who may do what: every path with every scope, and with none."""

import hashlib
import hmac
import json
import os
from contextlib import ExitStack
from pathlib import Path

import httpx
import pytest

from hetero_ops.errors import InvalidDocument, NotAllowed
from hetero_ops.ledger.ledger import Ledger
from hetero_ops.ledger.owner import Owner
from hetero_ops.service import token_file
from hetero_ops.service.client import ServiceClient
from hetero_ops.service.token_file import Scope, Tokens, new_token
from hetero_ops.service.warm import WarmFleet
from tests.service.running import MIXED, running

GOLDEN = Path(__file__).parents[1] / "golden" / "service" / "paths.txt"
PAGE = Path(__file__).parents[2] / "docs" / "service.md"
ID = "0" * 32
OWNER = {"kind": "task", "key": "a"}
BODIES = {
    ("POST", "/v1/place"): {"requirement": "gpu:1"},
    ("POST", "/v1/explain"): {"requirement": "gpu:1"},
    ("POST", "/v1/reservations"): {"requirement": "H100:64 fabric", "owner": OWNER},
    ("POST", "/v1/reservations/{reservation_id}/heartbeat"): {},
    ("PUT", "/v1/fleet"): {"apiVersion": "none"},
}
# What a path answers to who may: these ask for what is not there, or is wrong.
ANSWERS = {
    ("GET", "/v1/decisions/{trace_id}"): 404,
    ("GET", "/v1/reservations/{reservation_id}"): 404,
    ("POST", "/v1/reservations/{reservation_id}/heartbeat"): 404,
    ("DELETE", "/v1/reservations/{reservation_id}"): 404,
    ("PUT", "/v1/fleet"): 400,
}


@pytest.fixture(scope="module")
def paths(service):
    """Method, path and scope of everything in the OpenAPI document."""
    document = httpx.get(f"{service.url}/openapi.json").json()
    return [
        (method.upper(), path, stated.get("x-scope"))
        for path, methods in document["paths"].items()
        for method, stated in methods.items()
    ]


def ask(service, method, path, token):
    headers = {} if token is None else {"Authorization": f"Bearer {token}"}
    url = service.url + path.replace("{reservation_id}", ID).replace("{trace_id}", ID)
    return httpx.request(method, url, json=BODIES.get((method, path)), headers=headers).status_code


def test_every_path_with_every_scope(service, paths):
    for method, path, needed in paths:
        answer = ANSWERS.get((method, path), 200)
        assert ask(service, method, path, None) == (200 if needed is None else 401), (method, path)
        assert ask(service, method, path, "wrong") == (200 if needed is None else 401), (method, path)
        for scope in Scope:
            may = needed is None or scope >= Scope.of(needed)
            assert ask(service, method, path, service.tokens[scope.word]) == (answer if may else 403), (path, scope)


def test_the_paths_and_their_scopes(paths):
    text = "".join(f"{method:6} {path:50} {needed or '-'}\n" for method, path, needed in paths)
    if os.environ.get("UPDATE_GOLDEN"):
        GOLDEN.parent.mkdir(exist_ok=True)
        GOLDEN.write_text(text)
    assert GOLDEN.read_text() == text


def test_the_page_has_every_path_with_its_scope(paths):
    page = PAGE.read_text()
    for method, path, needed in paths:
        assert f"| `{method} {path}` | {needed or 'no token'} |" in page, path


@pytest.fixture
def as_(service):
    """A client with the token of a name; closed with the test."""
    with ExitStack() as opened:
        yield lambda name: opened.enter_context(ServiceClient(service.url, service.tokens[name]))


def test_only_who_booked_may_renew_and_release(as_):
    one, other, admin = (as_(name) for name in ("place", "other", "admin"))
    booked = one.book("gpu:1", Owner("task", "mine"))
    assert booked.terms["token"] == "place"  # noqa: S105 - a name
    for change in (other.heartbeat, other.release):
        with pytest.raises(NotAllowed, match="other"):
            change(booked.id)
    one.heartbeat(booked.id)
    assert one.release(booked.id).ended_by == "token place"
    again = one.book("gpu:1", Owner("task", "mine"))
    assert admin.release(again.id).ended_by == "token admin"


def test_what_was_booked_elsewhere_is_for_admins(service, as_):
    with Ledger.open(service.ledger) as ledger:
        booked = WarmFleet.load(MIXED, ledger).book("gpu:1", Owner("task", "elsewhere"))
    with pytest.raises(NotAllowed):
        as_("place").release(booked.id)
    assert as_("admin").release(booked.id).state == "released"


@pytest.mark.parametrize("header", ["", "Bearer", "Basic {}", "{}", "Bearer {}x", "Bearer {} {}"])
def test_what_is_no_token_is_refused_and_never_repeated(service, header):
    token = service.tokens["read"]
    answer = httpx.get(f"{service.url}/v1/fleet", headers={"Authorization": header.format(token, token)})
    assert answer.status_code == 401
    assert answer.headers["www-authenticate"] == "Bearer"
    assert token not in answer.text + str(answer.headers)


def test_two_tokens_are_none(service):
    headers = [("Authorization", f"Bearer {service.tokens['read']}")] * 2
    assert httpx.get(f"{service.url}/v1/fleet", headers=headers).status_code == 401


def test_all_digests_are_compared_in_constant_time(tmp_path, monkeypatch):
    file = tmp_path / "tokens"
    made = [new_token(name, Scope.READ) for name in ("a", "b", "c")]
    file.write_text("".join(f"{line}\n" for _, line in made))
    file.chmod(0o600)
    tokens, compared = Tokens.load(file), []
    constant = hmac.compare_digest
    monkeypatch.setattr(
        token_file.hmac, "compare_digest", lambda one, other: compared.append(one) or constant(one, other)
    )
    for token in (made[0][0], made[2][0], "wrong", "", "ä\udcff"):
        compared.clear()
        tokens.caller_of(token)
        assert len(compared) == len(made)
    assert tokens.caller_of(made[1][0]) == token_file.Caller("b", Scope.READ)


def test_a_new_token_is_in_the_file_as_a_digest_only():
    token, line = new_token("airflow", Scope.PLACE)
    assert line == f"airflow place {hashlib.sha256(token.encode()).hexdigest()}"
    assert len(token) >= 43
    assert token not in line


@pytest.mark.parametrize("name", ["", "a b", "#a", "-a", "a" * 65, "ä", "a\n"])
def test_a_name_that_breaks_the_file_is_refused(name):
    with pytest.raises(ValueError, match="no name"):
        new_token(name, Scope.READ)


DIGEST = "a" * 64


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "no token in it"),
        ("# nothing\n", "no token in it"),
        ("a read\n", ":1: 2 words"),
        (f"a read {DIGEST}\na place {DIGEST}\n", ":2: a second a"),
        (f"a write {DIGEST}\n", "'write' is no scope"),
        ("a read secret-itself\n", "no digest"),
        (f"@ read {DIGEST}\n", "no name"),
    ],
)
def test_a_wrong_file_says_where(tmp_path, text, told):
    file = tmp_path / "tokens"
    file.write_text(text)
    file.chmod(0o600)
    with pytest.raises(InvalidDocument) as caught:
        Tokens.load(file)
    assert told in str(caught.value)
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(
    ("mode", "is_fine"), [(0o600, True), (0o640, True), (0o644, False), (0o660, False), (0o602, False)]
)
def test_a_file_that_others_can_read_is_refused(tmp_path, mode, is_fine):
    file = tmp_path / "tokens"
    file.write_text(f"a read {DIGEST}\n")
    file.chmod(mode)
    if is_fine:
        assert len(Tokens.load(file)) == 1
        return
    with pytest.raises(InvalidDocument, match="chmod 600"):
        Tokens.load(file)


def test_a_file_that_is_not_there_is_told(tmp_path):
    with pytest.raises(InvalidDocument, match="check the path"):
        Tokens.load(tmp_path / "none")


def test_without_tokens_this_machine_may_do_everything_but_no_page_in_a_browser(tmp_path):
    with running(tmp_path, has_tokens=False) as service:
        with ServiceClient(service.url) as client:
            booked = client.book("gpu:1", Owner("task", "a"))
            client.heartbeat(booked.id)
            assert client.release(booked.id).ended_by == "token local"
        assert httpx.get(f"{service.url}/v1/fleet", headers={"Host": "evil.example"}).status_code == 400
        question = json.dumps({"requirement": "gpu:1"})
        sent = httpx.post(f"{service.url}/v1/place", content=question, headers={"Content-Type": "text/plain"})
        assert sent.status_code == 422  # what a page may send without being asked
