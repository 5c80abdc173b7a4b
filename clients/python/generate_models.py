"""Writes src/vision_client/models.py from the OpenAPI document; with a path as argument, writes there instead."""

import json
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = HERE / "../../docs/openapi/public.json"
TARGET = HERE / "src/vision_client/models.py"
HEADER = '"""Models of the public API, written by `make python-client UPDATE=1` from docs/openapi/public.json."""'


def open_enums(schema: object, is_variant: bool = False) -> object:
    """Lets a release of the service add values to an enumeration that this client does not know."""
    if isinstance(schema, list):
        return [open_enums(each, is_variant) for each in schema]
    if not isinstance(schema, dict):
        return schema
    if "enum" in schema and schema.get("type") == "string" and not is_variant:
        return {"anyOf": [{"type": "string", "enum": schema["enum"]}, {"type": "string"}], **described(schema)}
    return {name: open_enums(value, is_variant or name == "oneOf") for name, value in schema.items()}


def described(schema: dict) -> dict:
    return {"description": schema["description"]} if "description" in schema else {}


def generate(target: Path) -> None:
    document = json.loads(DOCUMENT.read_text())
    schemas = {"components": {"schemas": open_enums(document["components"]["schemas"])}}
    kept = {"openapi": document["openapi"], "info": {"title": "Vision", "version": "1"}, "paths": {}, **schemas}
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "public.json"
        source.write_text(json.dumps(kept))
        flags = [
            "--input-file-type=openapi",
            "--output-model-type=pydantic_v2.BaseModel",
            "--target-python-version=3.10",
            "--use-standard-collections",
            "--use-union-operator",
            "--enum-field-as-literal=all",
            "--use-schema-description",
            "--use-field-description",
            "--collapse-root-models",
            "--formatters=black",
            "--disable-timestamp",
            f"--custom-file-header={HEADER}",
        ]
        command = [sys.executable, "-m", "datamodel_code_generator", f"--input={source}", f"--output={target}", *flags]
        subprocess.run(command, check=True)


if __name__ == "__main__":
    generate(Path(sys.argv[1]) if len(sys.argv) > 1 else TARGET)
