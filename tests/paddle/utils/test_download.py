"""Files from the web, here from a server of our own."""

import hashlib
import http.server
import io
import tarfile
import threading
import zipfile
from pathlib import Path

import pytest

from paddle.utils import download


@pytest.fixture
def web(monkeypatch):
    """A server: its files by name, what was asked for, and where it is."""
    files, asked = {}, []

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            asked.append(self.path)
            data = files.get(self.path.split("?")[0].lstrip("/"))
            if data is None:
                self.send_error(404)
                return
            self.send_response(200)
            self.send_header("Content-Length", str(len(data) + (5 if "short" in self.path else 0)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *args):
            pass

    monkeypatch.setattr(download, "_WAIT_S", 0.0)
    for name in ("http_proxy", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield files, asked, f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_file_is_fetched_once(web, tmp_path):
    files, asked, at = web
    files["w.pdparams"] = b"weights"
    folder = tmp_path / "new" / "folder"
    for _ in range(2):
        path = download.get_path_from_url(f"{at}/w.pdparams?v=1", str(folder))
        assert path == str(folder / "w.pdparams") and Path(path).read_bytes() == b"weights"
    assert len(asked) == 1 and [p.name for p in folder.iterdir()] == ["w.pdparams"]
    download.get_path_from_url(f"{at}/w.pdparams", str(folder), check_exist=False)
    assert len(asked) == 2


def test_weights_have_a_folder(web, tmp_path, monkeypatch):
    files, asked, at = web
    monkeypatch.setattr(download, "WEIGHTS_HOME", str(tmp_path))
    (tmp_path / "w.pdparams").write_bytes(b"kept")
    assert download.get_weights_path_from_url(f"{at}/w.pdparams") == str(tmp_path / "w.pdparams") and not asked


def test_the_sum_is_compared(web, tmp_path):
    files, asked, at = web
    files["a.bin"] = b"right"
    (tmp_path / "a.bin").write_bytes(b"wrong")
    path = download.get_path_from_url(f"{at}/a.bin", str(tmp_path), hashlib.md5(b"right").hexdigest())
    assert Path(path).read_bytes() == b"right"
    with pytest.raises(RuntimeError, match="in 3 tries") as error:
        download.get_path_from_url(f"{at}/a.bin", str(tmp_path), "0" * 32)
    assert "another MD5 sum" in str(error.value) and Path(path).read_bytes() == b"right"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]


def test_what_cannot_be_fetched(web, tmp_path):
    files, asked, at = web
    files["short.bin"] = b"abc"
    for name, why in (("missing.bin", "404"), ("short.bin", "ended after 3 of 8 bytes")):
        with pytest.raises(RuntimeError, match=why):
            download.get_path_from_url(f"{at}/{name}", str(tmp_path))
    assert len(asked) == 6 and not list(tmp_path.iterdir())
    with pytest.raises(AssertionError, match="not a web address"):
        download.get_path_from_url("ftp://a/b", str(tmp_path))
    with pytest.raises(AssertionError, match="no such method"):
        download.get_path_from_url(f"{at}/short.bin", str(tmp_path), method="wget")


def tar(entries, mode="w:gz"):
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as archive:
        for name, data in entries.items():
            info = tarfile.TarInfo(name)
            if data is None:
                info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
                archive.addfile(info)
            else:
                info.size = len(data)
                archive.addfile(info, io.BytesIO(data))
    return out.getvalue()


def pack(entries):
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in entries.items():
            archive.writestr(name, data)
    return out.getvalue()


def test_archives_are_unpacked(web, tmp_path):
    files, asked, at = web
    files["one.tar.gz"] = tar({"only.txt": b"1"})
    files["folder.zip"] = pack({"data/a.txt": b"2", "data/b/c.txt": b"3"})
    files["many.tar"] = tar({"x.txt": b"4", "y.txt": b"5", "link": None}, "w")
    get = lambda name, **kw: download.get_path_from_url(f"{at}/{name}", str(tmp_path), **kw)
    assert get("one.tar.gz") == str(tmp_path / "only.txt") and (tmp_path / "only.txt").read_bytes() == b"1"
    assert get("folder.zip") == str(tmp_path / "data") and (tmp_path / "data/b/c.txt").read_bytes() == b"3"
    assert get("many.tar") == str(tmp_path / "many") and {p.name for p in (tmp_path / "many").iterdir()} == {
        "x.txt",
        "y.txt",
    }
    assert get("folder.zip") == str(tmp_path / "data") and len(asked) == 3
    assert get("one.tar.gz", decompress=False) == str(tmp_path / "one.tar.gz")


@pytest.mark.parametrize("name", ["../out.txt", "/tmp/out.txt", "a/../../out.txt"])
def test_an_archive_that_leads_out_is_refused(web, tmp_path, name):
    files, _, at = web
    for kind, data in (("bad.tar", tar({name: b"x"}, "w")), ("bad.zip", pack({name: b"x"}))):
        files[kind] = data
        with pytest.raises(ValueError, match="leads out of its folder"):
            download.get_path_from_url(f"{at}/{kind}", str(tmp_path))
    assert sorted(p.name for p in tmp_path.iterdir()) == ["bad.tar", "bad.zip"]
