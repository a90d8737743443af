"""The examples as notebooks: converted and run cell by cell, in a kernel. `make notebooks` installs what that takes."""

import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parent.parent / "examples"
NEEDS = {"log_to_mlflow": "mlflow", "log_to_tensorboard": "tensorboard"}

pytestmark = pytest.mark.filterwarnings("default")  # of Jupyter's own


@pytest.mark.parametrize("script", sorted(path.stem for path in EXAMPLES.glob("*.py")))
def test_an_example_opens_and_runs_as_a_notebook(script: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jupytext, nbclient = (pytest.importorskip(name, reason="no Jupyter") for name in ("jupytext", "nbclient"))
    pytest.importorskip("ipykernel", reason="no Jupyter")
    if find_spec(NEEDS.get(script, "sys")) is None:
        pytest.skip(f"no {NEEDS[script]}")
    notebook = jupytext.read(EXAMPLES / f"{script}.py", fmt="py:percent")
    assert [cell.cell_type for cell in notebook.cells[:2]] == ["markdown", "code"]
    assert '"""' not in notebook.cells[0].source
    assert notebook.cells[0].source.splitlines()[0].endswith(("?", "."))
    monkeypatch.setenv("PYTHONPATH", str(EXAMPLES.parent))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    monkeypatch.setenv("JUPYTER_PATH", str(Path(sys.prefix) / "share" / "jupyter"))
    ran = nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in ran.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output.text for output in outputs if output.output_type == "stream" and output.name == "stdout"]
    assert not [output for output in outputs if output.output_type == "error"]
