from typing import Final

from anchorhold_reference.following import Asked, Opened
from anchorhold_spec.vocabulary import Answer

class Native:
    name: Final[str]
    def __init__(self, other: Opened) -> None: ...
    def asked(self, token: str, branch: int) -> Asked | None: ...
    def opened(self, payload: object, address: bytes) -> Answer | None: ...
