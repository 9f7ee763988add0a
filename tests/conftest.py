"""No test depends on time: neither how long an example takes nor how long it takes to draw one fails it."""

from hypothesis import HealthCheck, settings

settings.register_profile("whenever", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("whenever")
