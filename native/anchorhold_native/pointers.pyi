from typing import Final

from anchorhold_reference.following import First, Opened
from anchorhold_spec.vocabulary import Answer

class Native:
    name: Final[str]
    def __init__(self, other: Opened) -> None: ...
    def followed(self, token: str, first: First, branch: int) -> tuple[int, Answer] | None: ...
