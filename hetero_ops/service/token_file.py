"""Who may do what: tokens, of which the service knows digests only, and their scopes."""

import hashlib
import hmac
import re
import secrets
import stat
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Self

from hetero_ops.errors import InvalidDocument

_DIGEST = re.compile(r"[0-9a-f]{64}")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_NAME_RULE = "letters, digits, and . _ @ - after the first, at most 64"
_FIELDS = 3
_TOKEN_BYTES = 32
# Anybody may read, or others than the owner may write.
_TOO_OPEN = stat.S_IROTH | stat.S_IWOTH | stat.S_IWGRP


class Scope(IntEnum):
    """What a token allows; each has what those before it have."""

    READ = 1
    PLACE = 2
    ADMIN = 3

    @classmethod
    def of(cls, word: str) -> Self:
        """The scope of a word, as `read`.

        Raises:
            ValueError: there is none.
        """
        if word not in (scope.word for scope in cls):
            raise ValueError(f"{word!r} is no scope: write read, place or admin")
        return cls[word.upper()]

    @property
    def word(self) -> str:
        """How it is written."""
        return self.name.lower()


@dataclass(frozen=True, slots=True)
class Caller:
    """Who asks: the name of a token, and its scope."""

    name: str
    scope: Scope


@dataclass(frozen=True, slots=True)
class _Entry:
    caller: Caller
    digest: str


class Tokens:
    """The tokens of a file with lines `name scope sha256hex`; `#` begins a comment."""

    def __init__(self, entries: tuple[_Entry, ...]) -> None:
        """Keeps entries; `load` is the way in."""
        self._entries = entries

    def __len__(self) -> int:
        return len(self._entries)

    @classmethod
    def load(cls, path: Path) -> Self:
        """Reads a file that nobody but its owner, and perhaps its group, can read.

        Raises:
            InvalidDocument: it cannot be read, others can read it, or a line is wrong; the message says which.
        """
        try:
            mode = path.stat().st_mode
            text = path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            what = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
            raise InvalidDocument(f"{path}: the tokens cannot be read: {what}; check the path") from None
        if mode & _TOO_OPEN:
            raise InvalidDocument(f"{path}: others can read or write the tokens; chmod 600 {path}")
        entries: dict[str, _Entry] = {}
        for number, line in enumerate(text.splitlines(), start=1):
            if words := line.partition("#")[0].split():
                entry = _entry(words, f"{path}:{number}", number)
                if entry.caller.name in entries:
                    raise InvalidDocument(f"{path}:{number}: a second {entry.caller.name}; give each token its name")
                entries[entry.caller.name] = entry
        if not entries:
            raise InvalidDocument(f"{path}: no token in it; hetero-ops serve token NAME SCOPE makes one")
        return cls(tuple(entries.values()))

    def caller_of(self, token: str) -> Caller | None:
        """Whose a token is. Takes as long for a wrong one as for a right one, and looks at all of them."""
        digest = digest_of(token)
        found = None
        for entry in self._entries:
            if hmac.compare_digest(entry.digest, digest):
                found = entry.caller
        return found


def digest_of(token: str) -> str:
    """What the service keeps of a token. Tokens are drawn and long, so no salt is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()


def new_token(name: str, scope: Scope) -> tuple[str, str]:
    """A new token, and the line for the file.

    Raises:
        ValueError: a name cannot be written so.
    """
    if not _NAME.fullmatch(name):
        raise ValueError(f"{name!r} is no name of a token: {_NAME_RULE}")
    token = secrets.token_urlsafe(_TOKEN_BYTES)
    return token, f"{name} {scope.word} {digest_of(token)}"


def _entry(words: list[str], where: str, line: int) -> _Entry:
    if len(words) != _FIELDS:
        raise InvalidDocument(f"{where}: {len(words)} words; a line is: name scope sha256hex", line=line)
    name, scope, digest = words
    if not _NAME.fullmatch(name):
        raise InvalidDocument(f"{where}: no name of a token: {_NAME_RULE}", line=line)
    if not _DIGEST.fullmatch(digest):
        form = "64 digits of 0-9a-f, the SHA-256 of the token"
        raise InvalidDocument(f"{where}: the third word of {name} is no digest: {form}", line=line)
    try:
        return _Entry(Caller(name, Scope.of(scope)), digest)
    except ValueError as error:
        raise InvalidDocument(f"{where}: {error}", line=line) from None
