"""A cold store in an object store: S3, Google Cloud Storage, Azure, or in memory for tests (extra `objects`)."""

from pathlib import Path
from typing import TYPE_CHECKING

import obstore
from obstore.exceptions import AlreadyExistsError, BaseError, NotFoundError
from obstore.store import from_url

from anchorhold_reference.errors import StoreError

if TYPE_CHECKING:
    from obstore.store import ObjectStore as Bucket


class ObjectStore:
    """See `outer.ColdStore`. Entries are put with the condition that their key is free, which the store itself
    holds against any other writer."""

    def __init__(self, bucket: "Bucket", *, where: str) -> None:
        """Use a bucket of obstore's; `where` names it in messages."""
        self._bucket = bucket
        self._where = where

    @classmethod
    def open(cls, url: str) -> "ObjectStore":
        """Use the bucket and prefix of a URL; credentials come from the environment, as obstore documents them."""
        try:
            return cls(from_url(url), where=url)
        except BaseError as error:
            raise StoreError(f"{url}: {_first_line(error)}; see to the URL and the environment") from error

    @property
    def where(self) -> str:
        """Its URL."""
        return self._where

    def create(self, key: str, payload: bytes) -> bool:
        """Put the entry if its key is free; an object store acknowledges what is durable."""
        try:
            obstore.put(self._bucket, key, payload, mode="create")
        except AlreadyExistsError:
            return False
        except (BaseError, OSError) as error:
            raise self._failed(error) from error
        return True

    def read(self, key: str) -> bytes | None:
        """Get the entry."""
        try:
            return bytes(obstore.get(self._bucket, key).bytes())
        except (NotFoundError, FileNotFoundError):
            return None
        except (BaseError, OSError) as error:
            raise self._failed(error) from error

    def remove(self, key: str) -> None:
        """Delete the entry."""
        try:
            obstore.delete(self._bucket, key)
        except (NotFoundError, FileNotFoundError):
            return
        except (BaseError, OSError) as error:
            raise self._failed(error) from error

    def files(self) -> list[Path]:
        """None that can be seen from here."""
        return []

    def _failed(self, error: BaseException) -> StoreError:
        return StoreError(f"{self._where}: {_first_line(error)} (OUT-3); see to the store and try again")


def _first_line(error: BaseException) -> str:
    """What happened; further lines of obstore's errors are for those who debug it."""
    return (str(error).strip() or type(error).__name__).splitlines()[0]
