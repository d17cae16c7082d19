"""Data files: found in the user's folder or the cache, or downloaded, or an error is raised."""

import http.server
import re
import shutil
import threading
from functools import partial

import pytest

from viewspan.datasets import fetch_minerals, fetch_yale_faces, files
from viewspan.datasets.minerals import LIBRARY_FILE

OFFLINE = "http://127.0.0.1:9/"
"""Address at which no server answers."""


@pytest.fixture
def library(data_file):
    return data_file("minerals/TIRlib.mat")


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    cache = tmp_path / "cache"
    monkeypatch.setattr(files, "cache_folder", lambda: cache)
    monkeypatch.delenv(files.DATA_VARIABLE, raising=False)
    return cache


@pytest.fixture
def server(monkeypatch, tmp_path, library):
    """Serve the library as the authors' repository does, and record the requests."""
    content = tmp_path / "served"
    content.mkdir()
    shutil.copy(library, content / "TIRlib.mat")
    requests = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            requests.append(self.path)

    handler = partial(Handler, directory=content)
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        monkeypatch.setattr(files, "SOURCE", f"http://127.0.0.1:{running.server_port}/")
        yield content, requests
        running.shutdown()


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr(files, "SOURCE", OFFLINE)


def test_the_users_folder_comes_first(empty_cache, offline, monkeypatch, tmp_path, library):
    for folder in (tmp_path, empty_cache):
        (folder / "minerals").mkdir(parents=True)
        shutil.copy(library, folder / "minerals")
    monkeypatch.setenv(files.DATA_VARIABLE, str(tmp_path))
    assert files.locate([LIBRARY_FILE]) == [tmp_path / LIBRARY_FILE]
    monkeypatch.delenv(files.DATA_VARIABLE)
    assert files.locate([LIBRARY_FILE]) == [empty_cache / LIBRARY_FILE]


def test_a_file_is_downloaded_once(empty_cache, server):
    _, requests = server
    assert fetch_minerals()[0].shape == (120, 321)
    assert (empty_cache / "minerals" / "TIRlib.mat").is_file()
    fetch_minerals()
    assert requests == ["/TIRlib.mat"]


def test_a_damaged_file_in_the_cache_is_downloaded_again(empty_cache, server):
    (empty_cache / "minerals").mkdir(parents=True)
    (empty_cache / "minerals" / "TIRlib.mat").write_bytes(b"truncated")
    assert fetch_minerals()[0].shape == (120, 321)


def test_a_download_with_another_checksum_raises_an_error(empty_cache, server):
    content, _ = server
    (content / "TIRlib.mat").write_bytes(b"something else")
    with pytest.raises(FileNotFoundError, match="hash"):
        fetch_minerals()
    assert not (empty_cache / "minerals" / "TIRlib.mat").exists()


def test_a_users_file_with_another_checksum_raises_an_error(
    empty_cache, offline, monkeypatch, tmp_path
):
    (tmp_path / "minerals").mkdir()
    (tmp_path / "minerals" / "TIRlib.mat").write_bytes(b"something else")
    monkeypatch.setenv(files.DATA_VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=r"TIRlib.mat is not the file the study needs.*Replace it"):
        fetch_minerals()


def test_without_network_the_error_names_the_file_and_its_path(
    empty_cache, offline, monkeypatch, tmp_path
):
    target = re.escape(str(empty_cache / "minerals" / "TIRlib.mat"))
    with pytest.raises(
        FileNotFoundError, match=rf"VIEWSPAN_DATA \(not set\)(.|\n)*TIRlib.mat -> {target}"
    ):
        fetch_minerals()
    monkeypatch.setenv(files.DATA_VARIABLE, str(tmp_path))
    with pytest.raises(FileNotFoundError, match=re.escape(f"in {tmp_path} (VIEWSPAN_DATA)")):
        fetch_minerals()


def test_the_error_names_a_user_folder_that_does_not_exist(
    empty_cache, offline, monkeypatch, tmp_path
):
    monkeypatch.setenv(files.DATA_VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="which is not a folder"):
        fetch_minerals()


def test_without_network_the_error_names_every_file(empty_cache, offline):
    with pytest.raises(FileNotFoundError) as caught:
        fetch_yale_faces()
    assert "38 files" in str(caught.value)
    assert str(caught.value).count(".pgm -> ") == 38


def test_a_file_put_into_the_cache_by_hand_is_found(empty_cache, offline, library):
    (empty_cache / "minerals").mkdir(parents=True)
    shutil.copy(library, empty_cache / "minerals")
    assert fetch_minerals()[0].shape == (120, 321)


def test_the_error_names_the_addresses_in_the_authors_repository(empty_cache, offline):
    with pytest.raises(FileNotFoundError, match=f"{OFFLINE}TIRlib.mat -> "):
        fetch_minerals()
    with pytest.raises(FileNotFoundError, match=f"{OFFLINE}faces/yaleB01_P00A-005E-10.pgm -> "):
        fetch_yale_faces()


def test_files_come_from_the_authors_repository():
    assert files.SOURCE.endswith("/sjtrny/collab_lrsc/HEAD/data/")
