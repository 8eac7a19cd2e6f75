"""A small client of the Kubernetes API. Objects are plain dicts, so that a client library's models hide nothing."""

import http.client
import json
import ssl
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

Object = dict[str, Any]

_GROUPS = {
    "resourceclaims": "/apis/resource.k8s.io/v1",
    "resourceclaimtemplates": "/apis/resource.k8s.io/v1",
    "resourceslices": "/apis/resource.k8s.io/v1",
    "deviceclasses": "/apis/resource.k8s.io/v1",
}


class RefusedError(Exception):
    """The API server said no."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(f"{status}: {message}")
        self.status = status
        self.message = message


class Api:
    """One user's view of one API server. Every write asks for strict validation: unknown fields are refused."""

    def __init__(self, port: int, certificate: Path, token: str) -> None:
        self._port = port
        self._trust = ssl.create_default_context(cafile=certificate)
        self._token = token

    def request(self, method: str, path: str, body: Any = None, kind: str = "application/json") -> str:
        connection = http.client.HTTPSConnection("127.0.0.1", self._port, timeout=30, context=self._trust)
        headers = {"Authorization": f"Bearer {self._token}", "Content-Type": kind}
        try:
            connection.request(method, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read().decode()
        finally:
            connection.close()
        if response.status >= http.client.BAD_REQUEST:
            try:
                message = json.loads(text)["message"]
            except (ValueError, KeyError, TypeError):
                message = text
            raise RefusedError(response.status, message)
        return text

    def ready(self, path: str = "/readyz") -> bool:
        try:
            self.request("GET", path)
        except (OSError, http.client.HTTPException, RefusedError):
            return False
        return True

    def create(self, what: str, thing: Object, namespace: str | None = None, *, strict: bool = True) -> Object:
        path = _path(what, namespace) + ("?fieldValidation=Strict" if strict else "")
        return self._object("POST", path, thing)

    def get(self, what: str, name: str, namespace: str | None = None) -> Object:
        return self._object("GET", _path(what, namespace, name))

    def list(self, what: str, namespace: str | None = None, label: str | None = None) -> list[Object]:
        query = f"?{urlencode({'labelSelector': label})}" if label else ""
        found: list[Object] = self._object("GET", _path(what, namespace) + query)["items"]
        return found

    def patch(self, what: str, name: str, change: Object, namespace: str | None = None) -> Object:
        """Merge a change; a name such as `node/status` reaches the status."""
        path = f"{_path(what, namespace, name)}?fieldValidation=Strict"
        return self._object("PATCH", path, change, "application/merge-patch+json")

    def delete(self, what: str, name: str, namespace: str | None = None, grace_s: int | None = None) -> None:
        query = "" if grace_s is None else f"?gracePeriodSeconds={grace_s}"
        self.request("DELETE", _path(what, namespace, name) + query)

    def delete_all(self, what: str, namespace: str | None = None, label: str | None = None, grace_s: int = 0) -> None:
        query = {"gracePeriodSeconds": str(grace_s)} | ({"labelSelector": label} if label else {})
        self.request("DELETE", f"{_path(what, namespace)}?{urlencode(query)}")

    def _object(self, *request: Any) -> Object:
        found: Object = json.loads(self.request(*request))
        return found


def _path(what: str, namespace: str | None = None, name: str | None = None) -> str:
    parts = [_GROUPS.get(what, "/api/v1")]
    parts += [f"namespaces/{namespace}"] if namespace else []
    parts += [what]
    parts += [quote(name, safe="/")] if name else []
    return "/".join(parts)
