"""A smallest and a largest object of every model, as they are on the wire."""

from typing import Final

from tests.protocol.models.sample_values import Wire
from tests.protocol.models.samples_services import SERVICES_SAMPLES
from tests.protocol.models.samples_session import SESSION_SAMPLES
from tests.protocol.models.samples_turn import TURN_SAMPLES

SAMPLES: Final = {**SESSION_SAMPLES, **TURN_SAMPLES, **SERVICES_SAMPLES}
"""By name of the model: the smallest and the largest object."""

CASES: Final[list[tuple[str, Wire]]] = [(n, sample) for n, pair in SAMPLES.items() for sample in pair]
CASE_IDS: Final = [f"{name}-{size}" for name in SAMPLES for size in ("min", "max")]
