"""Readers return the content of files, and raise InputError with one clear sentence."""

import gzip
import os
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.io
import scipy.sparse

from viewspan.io.readers.read import contents, read
from viewspan.io.readers.table import InputError, Reading

FRAME = pd.DataFrame(
    {"x": [1.5, 2.0, 3.0], "y": [4, 5, 6], "z": [True, False, True]}, index=["p", "q", "r"]
)
VALUES = FRAME.to_numpy(dtype=float)


def read_one(text, **options):
    reading = Reading(**options)
    (table,) = read(str(text), reading)
    return table, reading.notes


def dense(values):
    return np.asarray(values.toarray() if scipy.sparse.issparse(values) else values, dtype=float)


WRITERS = {
    "a.csv": lambda path: FRAME.to_csv(path, index_label="who"),
    "a.tsv": lambda path: FRAME.to_csv(path, sep="\t", index_label="who"),
    "semicolons.csv": lambda path: FRAME.to_csv(path, sep=";", index_label="who"),
    "a.csv.gz": lambda path: FRAME.to_csv(path, index_label="who"),
    "marked.csv": lambda path: FRAME.to_csv(path, index_label="who", encoding="utf-8-sig"),
    "a.parquet": lambda path: FRAME.rename_axis("who").to_parquet(path),
    "column.parquet": lambda path: FRAME.rename_axis("who").reset_index().to_parquet(path),
}


@pytest.mark.parametrize("name", WRITERS)
def test_tables_with_ids(name, tmp_path):
    WRITERS[name](tmp_path / name)
    table, _ = read_one(tmp_path / name, id_column="who")
    np.testing.assert_array_equal(table.values.to_numpy(dtype=float), VALUES)
    assert list(table.values.columns) == ["x", "y", "z"]
    assert list(table.ids) == ["p", "q", "r"]
    assert table.name == name.split(".")[0]


@pytest.mark.parametrize("name", WRITERS)
def test_contents_of_tables(name, tmp_path):
    WRITERS[name](tmp_path / name)
    parts = {part.key: part.kind for part in contents(tmp_path / name)}
    assert parts["x"] == "1.5 to 3"
    assert name == "a.parquet" or parts["who"] == "text, all different"


def test_ids_are_kept_as_text(tmp_path):
    (tmp_path / "a.csv").write_text("id,x\n007,1\n7,2\n")
    assert list(read_one(tmp_path / "a.csv", id_column="id")[0].ids) == ["007", "7"]


def test_first_column_without_name_holds_the_ids(tmp_path):
    FRAME.to_csv(tmp_path / "a.csv")
    table, notes = read_one(tmp_path / "a.csv")
    assert list(table.ids) == ["p", "q", "r"] and table.shape == (3, 3)
    assert "is used as the ids of the samples" in notes[0]


def test_first_column_without_name_is_ignored_if_an_id_column_is_given(tmp_path):
    FRAME.assign(who=["u", "v", "w"]).to_csv(tmp_path / "a.csv")
    table, notes = read_one(tmp_path / "a.csv", id_column="who")
    assert list(table.ids) == ["u", "v", "w"] and table.shape == (3, 3)
    assert "is ignored; the ids are in column 'who'" in notes[0]


def test_row_names_written_by_r_are_ids(tmp_path):
    (tmp_path / "a.tsv").write_text("x\ty\np\t1\t2\nq\t3\t4\n")
    table, notes = read_one(tmp_path / "a.tsv")
    assert list(table.ids) == ["p", "q"] and list(table.values.columns) == ["x", "y"]
    assert "is used as the ids of the samples" in notes[0]


@pytest.mark.parametrize(
    ("text", "rows", "words"),
    [
        ("1,2\n3,4\n", 2, "is used as the first sample"),
        ("0,1\n3,4\n", 1, "numbers the columns"),
        ("a,2\n3,4\n", 1, None),
        ("5\n6\n", 2, "is used as the first sample"),
        ("NA,0.5\n1,2\n", 2, "is used as the first sample"),
        ("True,False\nFalse,True\n", 2, "is used as the first sample"),
        ("id,1,2\np,3,4\n", None, None),
        ("id,0,1\np,3,4\n", None, None),
    ],
)
def test_header_detection(text, rows, words, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    if rows is None:  # column names that are numbers
        assert read_one(tmp_path / "a.csv", id_column="id")[0].shape == (1, 2)
        return
    table, notes = read_one(tmp_path / "a.csv")
    assert table.shape[0] == rows
    assert words is None or words in notes[0]


def test_header_option_overrides_detection(tmp_path):
    (tmp_path / "a.csv").write_text("1,2\n3,4\n")
    assert read_one(tmp_path / "a.csv", header=True)[0].shape == (1, 2)
    table, notes = read_one(tmp_path / "a.csv", header=False)
    assert table.shape == (2, 2) and notes == []


def test_decimal_commas(tmp_path):
    (tmp_path / "a.csv").write_text("x;y\n1,5;2\n-2,5;3\n")
    assert read_one(tmp_path / "a.csv", decimal=",")[0].values["x"].tolist() == [1.5, -2.5]
    with pytest.raises(
        InputError, match=r"with a comma \(1,5\); if it is the decimal sign, give --decimal ','"
    ):
        read_one(tmp_path / "a.csv")


def test_ignored_columns_are_left_out(tmp_path):
    (tmp_path / "a.csv").write_text("x,name\n1,ann\n2,bob\n")
    assert list(read_one(tmp_path / "a.csv", ignored=["name"])[0].values.columns) == ["x"]


def test_empty_cells_are_nan(tmp_path):
    (tmp_path / "a.csv").write_text("x,y\n1,\n2,3\n")
    assert np.isnan(read_one(tmp_path / "a.csv")[0].values.to_numpy()[0, 1])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            "x,name\n1,ann\n2,bob\n",
            r"column 'name' holds text \('ann'\).*--id 'name'.*--ignore 'name'",
        ),
        (
            "x,kind\n1,a\n2,a\n",
            r"column 'kind' holds text \('a'\), but a view must hold numbers; leave it out",
        ),
        (
            "x,y\n1,2\n1,2\noops,3\n",
            r"column 'x' holds 'oops' in row 3 \(values that are not numbers: 1\)",
        ),
        ("x,y\n1,2\n3,4,5,6\n", r"not a table of 2 columns separated by commas"),
        ("", "is empty"),
        ("x,y\n", "has no rows"),
        ("x,y\n1,\n2,\n", "column 'y' is empty; leave it out with --ignore 'y'"),
        (
            "s0,0.1\ns1,0.2\n",
            "could hold column names or the first sample; give --header or --no-header",
        ),
        (
            "id,400,410\np,1,2\n",
            "could hold column names or the first sample; give --header or --no-header",
        ),
        ("x,x\n1,2\n", "more than one column 'x'"),
        (
            "x,y\n1,2,\n3,4,\n",
            "has 2 column names in its first line, but 3 values in its second line",
        ),
        ('x,y\n"1,234",2\n"5,678",3\n', r"with a comma \(1,234\)"),
        ("\n\n", "is empty"),
    ],
)
def test_invalid_tables_raise(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_one(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"x,y\n\xff\xfe,2\n", "UTF-8"),
        (b"PK\x03\x04\x00\x00", "is not a text file|UTF-8"),
        (gzip.compress(b"x", mtime=0), "UTF-8|not a text file"),
    ],
)
def test_binary_content_raises(content, message, tmp_path):
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError, match=message):
        read_one(tmp_path / "a.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("id,x\na,1\na,2\n", "has the id 'a' in 2 rows"),
        ("id,x\na,1\n,2\n", r"column 'id' has no id in row 2 \(rows without an id: 1\); every"),
        (
            "id,x\n1,2,3\n4,5,6\n",
            "has 2 column names in its first line, but 3 values in its second line",
        ),
        ("ids,x\na,1\nb,2\n", r"has no column 'id' for --id; it has ids, x\. Did you mean ids\?"),
    ],
)
def test_invalid_ids_raise(text, message, tmp_path):
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(InputError, match=message):
        read_one(tmp_path / "a.csv", id_column="id")


def test_ids_such_as_na_are_kept(tmp_path):
    (tmp_path / "a.csv").write_text(",x\n007,1\nNA,2\n7,3\n")
    assert list(read_one(tmp_path / "a.csv")[0].ids) == ["007", "NA", "7"]
    (tmp_path / "b.csv").write_text("007,1\nNA,2\n")
    assert list(read_one(tmp_path / "b.csv", id_column="column 1", header=False)[0].ids) == [
        "007",
        "NA",
    ]


def test_separators(tmp_path):
    np.savetxt(tmp_path / "a.txt", VALUES)
    np.testing.assert_array_equal(read_one(tmp_path / "a.txt")[0].values, VALUES)
    (tmp_path / "b.csv").write_text("1,5;2,5\n3,5;4,5\n")
    assert read_one(tmp_path / "b.csv", decimal=",")[0].values.to_numpy().tolist() == [
        [1.5, 2.5],
        [3.5, 4.5],
    ]
    (tmp_path / "C.TSV").write_text("x, y\tz\n1\t2\n")
    assert list(read_one(tmp_path / "C.TSV")[0].values.columns) == ["x, y", "z"]


def test_note_about_features_that_look_like_ids(tmp_path):
    (tmp_path / "a.csv").write_text("patient_id,x\n11,1\n12,2\n")
    table, notes = read_one(tmp_path / "a.csv")
    assert (
        table.shape == (2, 2)
        and "give --id 'patient_id' if it holds the ids of the samples" in notes[0]
    )


def test_transposed_table(tmp_path):
    (tmp_path / "a.csv").write_text("gene,p,q,r\nA,1,2,3\nB,4,5,6\n")
    table, _ = read_one(f"{tmp_path / 'a.csv'}::.T", id_column="gene")
    assert list(table.ids) == ["p", "q", "r"] and list(table.columns) == ["A", "B"]
    np.testing.assert_array_equal(table.values, [[1, 4], [2, 5], [3, 6]])


def test_slice_of_a_frame_keeps_its_index_as_ids(tmp_path):
    pd.DataFrame(np.arange(20.0).reshape(10, 2), columns=["x", "y"]).iloc[5:8].to_parquet(
        tmp_path / "a.parquet"
    )
    assert list(read_one(tmp_path / "a.parquet")[0].ids) == ["5", "6", "7"]


def test_repeated_and_missing_ids_in_anndata_raise(tmp_path):
    anndata = pytest.importorskip("anndata")
    cells = pd.DataFrame({"patient": ["u", "u", None]}, index=["p", "p", "q"])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        anndata.AnnData(VALUES, obs=cells).write_h5ad(tmp_path / "a.h5ad")
        with pytest.raises(InputError, match="has the id 'p' in 2 rows"):
            read_one(tmp_path / "a.h5ad")
        with pytest.raises(
            InputError, match="column 'patient' in obs has no id for 1 of 3 samples"
        ):
            read_one(tmp_path / "a.h5ad", id_column="patient")


def test_pipes_raise(tmp_path):
    os.mkfifo(tmp_path / "a.csv")
    with pytest.raises(InputError, match="is not a regular file"):
        read_one(tmp_path / "a.csv")


def test_file_names_may_contain_colons(tmp_path):
    np.save(tmp_path / "a::b.npy", VALUES)
    assert read_one(tmp_path / "a::b.npy")[0].shape == (3, 3)


ARRAYS = {
    "a.npy": lambda path: np.save(path, VALUES),
    "a.npz::X": lambda path: np.savez(path, X=VALUES, other=VALUES.T, labels=np.arange(3)),
    "a.npz": lambda path: np.savez(path, X=VALUES, labels=np.arange(3)),
    "diagonal.npz": lambda path: scipy.sparse.save_npz(path, scipy.sparse.dia_array(VALUES)),
    "sparse.npz": lambda path: scipy.sparse.save_npz(path, scipy.sparse.csc_array(VALUES)),
    "a.mat::X": lambda path: scipy.io.savemat(path, {"X": VALUES, "Y": VALUES}),
    "a.mat": lambda path: scipy.io.savemat(path, {"X": VALUES, "labels": np.arange(3)}),
    "sparse.mat::X": lambda path: scipy.io.savemat(path, {"X": scipy.sparse.csc_array(VALUES)}),
    "turned.npy::.T": lambda path: np.save(path, VALUES.T),
    "turned.mat::X.T": lambda path: scipy.io.savemat(path, {"X": VALUES.T}),
}


@pytest.mark.parametrize("text", ARRAYS)
def test_array_files(text, tmp_path):
    ARRAYS[text](tmp_path / text.split("::")[0])
    table, _ = read_one(tmp_path / text)
    np.testing.assert_array_equal(dense(table.values), VALUES)
    assert table.ids is None


def test_npy_files_are_memory_mapped(tmp_path):
    np.save(tmp_path / "a.npy", VALUES)
    assert isinstance(read_one(tmp_path / "a.npy")[0].values, np.memmap)


def test_matlab_cell_of_matrices_gives_several_views(tmp_path):
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = VALUES, VALUES[:, :2]
    scipy.io.savemat(tmp_path / "a.mat", {"X": cells, "truth": np.arange(3)})
    first, second = read(str(tmp_path / "a.mat::X"), Reading())
    np.testing.assert_array_equal(second.values, VALUES[:, :2])
    assert first.name == "a::X{1}" and second.name == "a::X{2}"


def test_matlab_73(tmp_path):
    """Version 7.3 is HDF5 with transposed matrices."""
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w", userblock_size=512) as file:
        file["X"] = VALUES.T
        file["X"].attrs["MATLAB_class"] = np.bytes_("double")
    np.testing.assert_array_equal(read_one(tmp_path / "a.mat::X")[0].values, VALUES)


def test_anndata_and_mudata(tmp_path):
    anndata, mudata = pytest.importorskip("anndata"), pytest.importorskip("mudata")
    cells = pd.DataFrame({"patient": ["u", "v", "w"]}, index=list("pqr"))
    genes = anndata.AnnData(scipy.sparse.csr_array(VALUES), obs=cells, layers={"raw": 2 * VALUES})
    genes.obsm["X_pca"] = VALUES[:, :2]
    genes.write_h5ad(tmp_path / "a.h5ad")
    table, _ = read_one(tmp_path / "a.h5ad")
    np.testing.assert_array_equal(dense(table.values), VALUES)
    assert list(table.ids) == ["p", "q", "r"]
    np.testing.assert_array_equal(read_one(tmp_path / "a.h5ad::raw")[0].values, 2 * VALUES)
    assert read_one(tmp_path / "a.h5ad::X_pca")[0].shape == (3, 2)
    turned, _ = read_one(tmp_path / "a.h5ad::X.T")
    assert list(turned.ids) == ["0", "1", "2"] and list(turned.columns) == ["p", "q", "r"]
    assert list(read_one(tmp_path / "a.h5ad", id_column="patient")[0].ids) == ["u", "v", "w"]
    proteins = anndata.AnnData(VALUES[::-1].copy(), obs=cells.iloc[::-1])
    mudata.MuData({"rna": genes, "prot": proteins}).write_h5mu(tmp_path / "a.h5mu")
    views = {table.name: table for table in read(str(tmp_path / "a.h5mu"), Reading())}
    assert list(views["a::prot"].ids) == ["r", "q", "p"]
    np.testing.assert_array_equal(
        dense(read_one(tmp_path / "a.h5mu::rna/raw")[0].values), 2 * VALUES
    )
    assert {part.key for part in contents(tmp_path / "a.h5mu")} == {
        "rna",
        "rna/raw",
        "rna/X_pca",
        "prot",
    }
    for text in ("a.h5ad::Z", "a.h5mu::atac", "a.h5mu::rna/Z"):
        with pytest.raises(InputError, match=r"has no '(Z|atac)'"):
            read(str(tmp_path / text), Reading())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a.npz::Y", r"has no 'Y'; it holds X \(3 × 3\), other \(3 × 3\), labels \(3\)"),
        ("a.npz", r"holds X \(3 × 3\), other \(3 × 3\), labels \(3\); say which with a.npz::X"),
        ("a.npz::labels", "a.npz::labels has the shape 3, but a view must have two dimensions"),
        ("a.npz::words", "has no 'words'"),
        ("a.npz::", "no key after ::"),
        ("a.npy::X", "holds one array and has no keys"),
        ("table.csv::X", "holds one table and has no keys"),
        ("objects.npy", "can run code"),
        ("objects.npz::X", "can run code"),
        ("words.npy", "holds text"),
        ("waves.npy", "holds complex numbers"),
        ("broken.npz", "cannot be read as a .npz file"),
        ("broken.npy", "cannot be read as a .npy file"),
        ("broken.mat", "cannot be read as a .mat file"),
        ("broken.parquet", "cannot be read as a .parquet file"),
        ("broken.h5ad", "cannot be read as a .h5ad file"),
        ("tabel.csv", r"does not exist\. Did you mean table\.csv\?"),
        ("a.xlsx", "has none of the supported extensions"),
        ("folder", "is a folder"),
        ("a.npy.gz", "unpack it first"),
    ],
)
def test_unreadable_files_raise_one_sentence(text, message, tmp_path):
    np.savez(tmp_path / "a.npz", X=VALUES, other=VALUES.T, labels=np.arange(3))
    np.save(tmp_path / "a.npy", VALUES)
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    np.savez(tmp_path / "objects.npz", X=np.array([{}]))
    np.save(tmp_path / "words.npy", np.array([["a"]]))
    np.save(tmp_path / "waves.npy", np.array([[1j]]))
    FRAME.to_csv(tmp_path / "table.csv", index=False)
    for name in (
        "broken.npz",
        "broken.npy",
        "broken.mat",
        "broken.parquet",
        "broken.h5ad",
        "a.xlsx",
        "a.npy.gz",
    ):
        (tmp_path / name).write_bytes(b"not what it says")
    (tmp_path / "folder").mkdir()
    with pytest.raises(InputError, match=message) as caught:
        read(str(tmp_path / text), Reading())
    assert "\n" not in str(caught.value)


def test_view_names(tmp_path):
    np.save(tmp_path / "a.npy", VALUES)
    assert read_one(f"genes={tmp_path / 'a.npy'}")[0].name == "genes"
    np.save(tmp_path / "b=c.npy", VALUES)
    assert read_one(tmp_path / "b=c.npy")[0].name == "b=c"
