"""The exception tree: broken input raises, no fit returns.

The core raises these very classes, so `except InvalidDocument` works wherever a document was found wrong.
"""


class HeteroOpsError(Exception):
    """Base of every error of this package."""


class InvalidRequirement(HeteroOpsError, ValueError):  # noqa: N818 - a name that reads as a sentence
    """A requirement cannot be understood: the message says what, where in the text, and what to write instead.

    Attributes:
        path: which part, as `choices[1].perf`; empty for the whole, and for the shorthand, which names characters.
    """

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path

    def __reduce__(self) -> tuple[type["InvalidRequirement"], tuple[str, str]]:
        return (type(self), (str(self), self.path))


class InvalidDocument(HeteroOpsError, ValueError):  # noqa: N818
    """A fleet document, catalog or table cannot be read.

    Attributes:
        path: where in the document, as `clusters[0].nodes[2].cpu_milli`; empty for the whole document.
        line: the 1-based line in the source text, `None` when it is not known.
    """

    def __init__(self, message: str, path: str = "", line: int | None = None) -> None:
        super().__init__(message)
        self.path = path
        self.line = line

    def __reduce__(self) -> tuple[type["InvalidDocument"], tuple[str, str, int | None]]:
        return (type(self), (str(self), self.path, self.line))


class UnknownDevice(HeteroOpsError, KeyError):  # noqa: N818
    """A name that neither the catalog nor the fleet has."""

    __str__ = Exception.__str__  # KeyError would print the message in quotes


class UnknownHold(HeteroOpsError, KeyError):  # noqa: N818
    """A hold that was never taken, or was released already."""

    __str__ = Exception.__str__


class OldSpelling(UserWarning):
    """A word is spelled as it once was. It is read as what is meant."""


class StalePlacement(HeteroOpsError):  # noqa: N818
    """A placement names devices that changed since it was made: place again."""


class CutFirst(HeteroOpsError):  # noqa: N818
    """A placement takes a partition that does not exist yet: the message says which device has to be cut, and how."""


class UnexpectedAnswer(HeteroOpsError, ValueError):  # noqa: N818
    """A ladder was told what it did not ask for: the message says what it waits for."""


class LedgerUnusable(HeteroOpsError):  # noqa: N818
    """The ledger cannot be used from here: the message says why, and what to set."""


class ReservationConflict(HeteroOpsError):  # noqa: N818
    """Somebody else reserved what this reservation would take: place again."""


class UnknownReservation(HeteroOpsError, KeyError):  # noqa: N818
    """A reservation that the ledger does not have, or that does not live any more."""

    __str__ = Exception.__str__


class ServiceUnusable(HeteroOpsError):  # noqa: N818
    """The service gives no answer: the message says which one, why, and what to do."""


class NotAllowed(HeteroOpsError):  # noqa: N818
    """The service does not let the caller do this: the message says what is needed."""


class CheckpointUnusable(HeteroOpsError):  # noqa: N818
    """A step cannot start from the checkpoint it should start from: the message says which, why, and what to do."""
