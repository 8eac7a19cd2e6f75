"""What a request meets before anybody looks at what it asks."""

from collections.abc import Mapping

from starlette.exceptions import HTTPException


class Refusal(HTTPException):
    """A request is not served: too large, too slow, too many, without a token.

    An `HTTPException`, since the framework takes any other one that is raised while it reads a body for a wrong body.
    """

    def __init__(self, status: int, message: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(status, message, headers)

    def __str__(self) -> str:
        return self.detail
