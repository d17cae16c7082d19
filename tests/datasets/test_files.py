"""Where data files are found: the user's folder, the cache, a server; and what is said when they are not."""

import http.server
import re
import shutil
import threading
from functools import partial

import pytest

from viewspan.datasets import fetch_minerals, fetch_yale_faces, files
from viewspan.datasets.minerals import LIBRARY


@pytest.fixture
def library(data_file):
    return data_file("minerals/TIRlib.mat")


@pytest.fixture
def empty_cache(monkeypatch, tmp_path):
    cache = tmp_path / "cache"
    monkeypatch.setattr(files, "cache_folder", lambda: cache)
    monkeypatch.delenv(files.VARIABLE, raising=False)
    return cache


@pytest.fixture
def server(monkeypatch, tmp_path, library):
    """Serves the library as the authors' repository does, and counts how often it is asked."""
    content = tmp_path / "served"
    content.mkdir()
    shutil.copy(library, content / "TIRlib.mat")
    asked = []

    class Handler(http.server.SimpleHTTPRequestHandler):
        def log_message(self, *args):
            asked.append(self.path)

    with http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), partial(Handler, directory=content)
    ) as served:
        threading.Thread(target=served.serve_forever, daemon=True).start()
        monkeypatch.setattr(files, "SOURCE", f"http://127.0.0.1:{served.server_port}/")
        yield content, asked
        served.shutdown()


@pytest.fixture
def offline(monkeypatch):
    monkeypatch.setattr(files, "SOURCE", "http://127.0.0.1:9/")


def test_the_users_folder_comes_first(empty_cache, offline, monkeypatch, tmp_path, library):
    for folder in (tmp_path, empty_cache):
        (folder / "minerals").mkdir(parents=True)
        shutil.copy(library, folder / "minerals")
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    assert files.locate([LIBRARY]) == [tmp_path / LIBRARY]
    monkeypatch.delenv(files.VARIABLE)
    assert files.locate([LIBRARY]) == [empty_cache / LIBRARY]


def test_a_download_is_kept(empty_cache, server):
    _, asked = server
    assert fetch_minerals()[0].shape == (120, 321)
    assert (empty_cache / "minerals" / "TIRlib.mat").is_file()
    fetch_minerals()
    assert asked == ["/TIRlib.mat"]


def test_a_damaged_file_in_the_cache_is_downloaded_again(empty_cache, server):
    (empty_cache / "minerals").mkdir(parents=True)
    (empty_cache / "minerals" / "TIRlib.mat").write_bytes(b"half a fi")
    assert fetch_minerals()[0].shape == (120, 321)


def test_another_content_is_not_accepted_from_the_server(empty_cache, server):
    content, _ = server
    (content / "TIRlib.mat").write_bytes(b"something else")
    with pytest.raises(FileNotFoundError, match="hash"):
        fetch_minerals()
    assert not (empty_cache / "minerals" / "TIRlib.mat").exists()


def test_another_content_is_not_accepted_from_the_user(empty_cache, offline, monkeypatch, tmp_path):
    (tmp_path / "minerals").mkdir()
    (tmp_path / "minerals" / "TIRlib.mat").write_bytes(b"something else")
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    with pytest.raises(ValueError, match=r"TIRlib.mat is not the file the study needs.*Replace it"):
        fetch_minerals()


def test_offline_it_says_which_file_to_put_where(empty_cache, offline, monkeypatch, tmp_path):
    target = re.escape(str(empty_cache / "minerals" / "TIRlib.mat"))
    with pytest.raises(
        FileNotFoundError, match=rf"VIEWSPAN_DATA \(not set\)(.|\n)*TIRlib.mat -> {target}"
    ):
        fetch_minerals()
    monkeypatch.setenv(files.VARIABLE, str(tmp_path))
    with pytest.raises(FileNotFoundError, match=re.escape(f"in {tmp_path} (VIEWSPAN_DATA)")):
        fetch_minerals()


def test_a_folder_that_is_not_there_is_said(empty_cache, offline, monkeypatch, tmp_path):
    monkeypatch.setenv(files.VARIABLE, str(tmp_path / "nowhere"))
    with pytest.raises(FileNotFoundError, match="which is no folder"):
        fetch_minerals()


def test_offline_all_missing_faces_are_named(empty_cache, offline):
    with pytest.raises(FileNotFoundError) as caught:
        fetch_yale_faces()
    assert "38 files" in str(caught.value)
    assert str(caught.value).count(".pgm -> ") == 38


def test_what_is_put_there_by_hand_is_found(empty_cache, offline, library):
    (empty_cache / "minerals").mkdir(parents=True)
    shutil.copy(library, empty_cache / "minerals")
    assert fetch_minerals()[0].shape == (120, 321)


def test_addresses_are_those_of_the_authors_repository():
    assert files.address("minerals/TIRlib.mat").endswith("/sjtrny/collab_lrsc/HEAD/data/TIRlib.mat")
    assert files.address("faces/yaleB01_P00A-005E-10.pgm").endswith(
        "/data/faces/yaleB01_P00A-005E-10.pgm"
    )
