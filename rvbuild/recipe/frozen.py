"""What every record of a recipe is: it does not change and has no unknown keys."""

from pydantic import BaseModel, ConfigDict


class Frozen(BaseModel):
    """A record that does not change and has no unknown keys."""

    model_config = ConfigDict(frozen=True, extra="forbid")
