"""What a running compactor tells of itself, and that no content is in it."""

import logging
import subprocess
import sys

import pytest
from transcripts import fill

from anchorhold_spec.vocabulary import OutcomeKind

SECRET = "hunter2"


@pytest.fixture
def reader(monkeypatch):
    """Reads what is measured, through a provider of its own."""
    from opentelemetry.sdk.metrics import MeterProvider
    from opentelemetry.sdk.metrics.export import InMemoryMetricReader

    from anchorhold_reference import telemetry

    reader = InMemoryMetricReader()
    provider = MeterProvider(metric_readers=[reader])
    monkeypatch.setattr(telemetry.metrics, "get_meter", provider.get_meter)
    yield reader
    provider.shutdown()


def measured(reader):
    found = {}
    for resource in reader.get_metrics_data().resource_metrics:
        for scope in resource.scope_metrics:
            for metric in scope.metrics:
                for point in metric.data.data_points:
                    value = getattr(point, "value", None)
                    found[metric.name, *sorted(map(str, point.attributes.values()))] = value
    return found


def test_ptr_5_the_two_ratios_and_how_operations_ended_are_measured(reader, make):
    transcript = make()
    fill(transcript, 1, 6)
    transcript.hold_copies(True)
    assert transcript.compact().kind is OutcomeKind.COMMITTED
    seen = measured(reader)
    assert seen["anchorhold.operations", "committed", "compact"] == 1
    assert seen["anchorhold.summaries", "committed"] == 1
    assert seen["anchorhold.summaries", "pending"] == 1
    transcript.settle()
    transcript.audit()
    transcript.forget("t1")
    seen = measured(reader)
    assert seen["anchorhold.summaries", "pending"] == 0
    assert seen["anchorhold.summaries", "unresolvable"] == 0
    assert seen["anchorhold.audits", "True"] == 1
    assert seen["anchorhold.operations", "committed", "forget"] == 1


def test_era_1_no_content_is_logged(make, caplog):
    caplog.set_level(logging.DEBUG)
    transcript = make()
    from transcripts import turn

    transcript.append(turn(1, f"The password of vault-7 is {SECRET}."))
    fill(transcript, 2, 6)
    transcript.compact()
    transcript.audit()
    transcript.evict(transcript.pointers()[0].token)
    transcript.forget("t1")

    assert {"compact", "audit", "evict", "forget"} <= {
        record.__dict__.get("operation", record.message) for record in caplog.records
    }
    for record in caplog.records:
        assert SECRET not in str(record.__dict__)
        assert "vault-7" not in str(record.__dict__)


UNCONFIGURED = """
import sqlite3, sys
from anchorhold_reference import Reply, Settings, Transcript
from anchorhold_spec.vocabulary import Turn

with Transcript.open(sys.argv[1], summarise=lambda _: Reply(text="Ports."), settings=Settings(keep=1)) as transcript:
    for n in range(4):
        transcript.append(Turn(id=f"t{n}", speaker="user", text=f"The port of db-{n} is {7000 + n}."))
    transcript.compact()
    behind = sqlite3.connect(sys.argv[1])
    behind.execute("DROP TRIGGER cold_is_immutable")
    behind.execute("UPDATE cold SET payload = x'00'")
    behind.commit()
    assert transcript.audit() is False
"""


def test_a_process_that_configures_no_logging_prints_nothing(tmp_path):
    run = subprocess.run(
        [sys.executable, "-c", UNCONFIGURED, str(tmp_path / "session.db")],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
