"""Changing and reading the catalogue, over both doors. Each test has a source of its own."""

from __future__ import annotations

import grpc
import pytest

from signalbox_client import Client, SignalboxError, v1


def entry(source: str, name: str, **fields: object) -> v1.Entry:
    return v1.Entry(kind=v1.ENTRY_KIND_TOOL, source=source, name=name, **fields)


def test_upsert_is_routable_at_once_and_changes_the_revision(client: Client, door: str) -> None:
    prompt = f"Calibrate the zephyrquux{door} flange"
    before = client.route(prompt)
    flange = entry(
        f"upsert-{door}",
        f"calibrate-zephyrquux{door}",
        title=f"Calibrate the zephyrquux{door} flange",
        responsibility=f"Calibrate the zephyrquux{door} flange.",
        examples=[prompt],
    )

    summary = client.upsert_entries([flange])
    after = client.route(prompt)

    assert (summary.created, summary.updated) == (1, 0)
    assert summary.catalog_revision != before.catalog_revision
    assert after.catalog_revision == summary.catalog_revision
    assert after.matches[0].entry == v1.EntryRef(
        kind=v1.ENTRY_KIND_TOOL, source=flange.source, name=flange.name
    )

    again = client.upsert_entries([flange])
    assert (again.created, again.updated, again.unchanged) == (0, 0, 1)
    assert again.catalog_revision == summary.catalog_revision


def test_get_answers_what_was_put(client: Client, door: str) -> None:
    put = entry(
        f"get-{door}",
        "full",
        title="Title",
        responsibility="Überall ändern — 全部",
        capabilities=["one", "two"],
        not_when=[v1.NotWhen(text="never", redirect="other")],
        input_schema='{"type":"object"}',
        tags=["t"],
        annotations={"owner": "tests"},
    )
    client.upsert_entries([put])

    got = client.get_entry("full", source=put.source)

    assert got.entry == put
    assert got.catalog_revision


def test_list_pages_through_a_source(client: Client, door: str) -> None:
    source = f"pages-{door}"
    names = [f"entry-{number}" for number in range(5)]
    client.upsert_entries([entry(source, name) for name in reversed(names)])

    request = v1.ListEntriesRequest(source=source, page_size=2)
    sizes = []
    while True:
        page = client.list_page(request)
        sizes.append(len(page.entries))
        assert page.total_size == 5
        if not page.next_page_token:
            break
        request.page_token = page.next_page_token
    assert sizes == [2, 2, 1]

    assert [each.name for each in client.list_entries(source=source, page_size=2)] == names
    assert [each.name for each in client.list_entries(source=source)] == names
    assert not list(client.list_entries(source=source, kind=v1.ENTRY_KIND_SKILL))


def test_delete_removes_an_entry(client: Client, door: str) -> None:
    source = f"delete-{door}"
    before = client.upsert_entries([entry(source, "gone")])

    summary = client.delete_entry("gone", source=source)

    assert summary.deleted == 1
    assert summary.catalog_revision != before.catalog_revision
    with pytest.raises(SignalboxError) as missing:
        client.delete_entry("gone", source=source)
    assert missing.value.reason == "ENTRY_NOT_FOUND"
    assert client.delete_entry("gone", source=source, allow_missing=True).deleted == 0


DOCUMENT = """\
kind: command
entries:
  - name: paint-wall
    responsibility: Paint the wall green — 刷墙.
    examples:
      - Streich die Wand grün
  - name: paint-door
    responsibility: Paint the door.
"""


def test_import_takes_a_document_in_pieces(client: Client, door: str) -> None:
    source = f"import-{door}"
    header = v1.ImportHeader(format=v1.IMPORT_FORMAT_YAML, source=source, replace_source=True)

    # Pieces of 7 bytes cut characters and lines apart.
    answer = client.import_entries(DOCUMENT, header, chunk_bytes=7)

    assert (answer.summary.created, answer.summary.deleted) == (2, 0)
    wall = client.get_entry("paint-wall", source=source).entry
    assert wall.kind == v1.ENTRY_KIND_COMMAND
    assert wall.responsibility == "Paint the wall green — 刷墙."
    assert wall.examples == ["Streich die Wand grün"]

    rest = client.import_entries("- name: paint-wall\n  responsibility: Paint.\n", header)
    assert (rest.summary.updated, rest.summary.deleted) == (1, 1)
    assert [each.name for each in client.list_entries(source=source)] == ["paint-wall"]


def test_import_that_cannot_be_read_changes_nothing(client: Client, door: str) -> None:
    source = f"rejected-{door}"
    header = v1.ImportHeader(format=v1.IMPORT_FORMAT_JSON, source=source)

    with pytest.raises(SignalboxError) as rejected:
        client.import_entries('[{"name": "fine", "responsibility": "x"}, {"name": ', header)

    assert rejected.value.code is grpc.StatusCode.INVALID_ARGUMENT
    assert rejected.value.reason == "IMPORT_REJECTED"
    assert not list(client.list_entries(source=source))


def test_watch_sees_changes_and_resumes(client: Client, door: str) -> None:
    source = f"watch-{door}"
    with client.watch_catalog(timeout=60) as changes:
        first = next(changes)
        assert first.state.catalog_revision == client.server_info().catalog_revision
        assert first.state.entry_count > 0

        put = client.upsert_entries([entry(source, "seen")])
        change = next(changes)
        assert change.change.catalog_revision == put.catalog_revision
        assert [(each.source, each.name) for each in change.change.upserted] == [(source, "seen")]
        assert not change.change.deleted

        deleted = client.delete_entry("seen", source=source)

    # The deletion happened (for this watch) after its last message.
    with client.watch_catalog(resume_token=change.resume_token, timeout=60) as resumed:
        assert next(resumed).WhichOneof("event") == "state"
        missed = next(resumed).change
    assert missed.catalog_revision == deleted.catalog_revision
    assert [(each.source, each.name) for each in missed.deleted] == [(source, "seen")]
