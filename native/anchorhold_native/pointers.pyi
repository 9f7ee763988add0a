from collections.abc import Callable
from typing import Final

from anchorhold_reference.pointer import Address
from anchorhold_spec.vocabulary import Answer

class Native:
    name: Final[str]
    def __init__(self, other: Callable[[bytes, bytes, int], Answer | None]) -> None: ...
    def unseal(self, token: str) -> Address | None: ...
    def opened(self, payload: bytes, mark: bytes, slot: int) -> Answer | None: ...
