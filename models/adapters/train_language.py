"""Makes language.safetensors: which language a prompt is in, from the encoder's middle states.

    pip install numpy tokenizers safetensors scikit-learn
    python models/adapters/train_language.py        # after `make models`; minutes on one core

Reads the prompts of data/*.rows.jsonl (written for this project) through the lower half of
multilingual-e5-small, takes the mean of a prompt's states, and fits a multinomial logistic
regression. One prompt in ten, chosen by its hash, is kept out and measured. Prints the size and
sha256 for models/manifest.toml.
"""

import hashlib
import json
import math
from pathlib import Path

import numpy as np
from safetensors.numpy import load_file, save_file
from sklearn.linear_model import LogisticRegression
from tokenizers import Tokenizer

HERE = Path(__file__).parent
MODEL = HERE.parent / "weights" / "multilingual-e5-small"
OUT = HERE / "language.safetensors"
MAX_TOKENS = 72
PER_LANGUAGE = 400


def erf(x: np.ndarray) -> np.ndarray:
    """Error function, to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    t = 1 / (1 + 0.3275911 * np.abs(x))
    poly = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429))))
    return np.sign(x) * (1 - poly * np.exp(-x * x))


class LowerHalf:
    """The first half of a BERT encoder, one text at a time."""

    def __init__(self) -> None:
        self.config = json.loads((MODEL / "config.json").read_text())
        self.weights = {k: v.astype(np.float32) for k, v in load_file(MODEL / "model.safetensors").items()}
        self.tokenizer = Tokenizer.from_file(str(MODEL / "tokenizer.json"))
        self.tokenizer.enable_truncation(MAX_TOKENS)

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        x = x - x.mean(-1, keepdims=True)
        x = x / np.sqrt((x * x).mean(-1, keepdims=True) + self.config["layer_norm_eps"])
        return x * self.weights[f"{name}.weight"] + self.weights[f"{name}.bias"]

    def linear(self, x: np.ndarray, name: str) -> np.ndarray:
        return x @ self.weights[f"{name}.weight"].T + self.weights[f"{name}.bias"]

    def layer(self, x: np.ndarray, at: int) -> np.ndarray:
        name = f"encoder.layer.{at}"
        heads = self.config["num_attention_heads"]
        split = lambda part: self.linear(x, f"{name}.attention.self.{part}").reshape(len(x), heads, -1).swapaxes(0, 1)
        query, key, value = split("query"), split("key"), split("value")
        scores = query @ key.swapaxes(1, 2) / math.sqrt(query.shape[-1])
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        context = (scores / scores.sum(-1, keepdims=True)) @ value
        context = context.swapaxes(0, 1).reshape(len(x), -1)
        x = self.norm(self.linear(context, f"{name}.attention.output.dense") + x, f"{name}.attention.output.LayerNorm")
        up = self.linear(x, f"{name}.intermediate.dense")
        up = up * 0.5 * (1 + erf(up / math.sqrt(2)))
        return self.norm(self.linear(up, f"{name}.output.dense") + x, f"{name}.output.LayerNorm")

    def mean(self, text: str) -> np.ndarray:
        ids = self.tokenizer.encode(f"query: {text}").ids
        table = "embeddings.{}_embeddings.weight".format
        x = self.weights[table("word")][ids] + self.weights[table("position")][: len(ids)]
        x = self.norm(x + self.weights[table("token_type")][0], "embeddings.LayerNorm")
        for at in range(self.config["num_hidden_layers"] // 2):
            x = self.layer(x, at)
        return x.mean(0)


def digest(row: dict) -> bytes:
    return hashlib.sha256(row["query"].encode()).digest()


def spread(rows: list[dict]) -> list[dict]:
    """The same number of prompts in each language, chosen by their hash."""
    taken: dict[str, list[dict]] = {}
    for row in sorted(rows, key=digest):
        of_language = taken.setdefault(row["lang"], [])
        if len(of_language) < PER_LANGUAGE:
            of_language.append(row)
    return [row for language in sorted(taken) for row in taken[language]]


def main() -> None:
    rows = [
        json.loads(line)
        for path in sorted((HERE / "data").glob("*.rows.jsonl"))
        for line in path.read_text().splitlines()
    ]
    rows = spread(rows)
    encoder = LowerHalf()
    states = np.stack([encoder.mean(row["query"]) for row in rows])
    languages = np.array([row["lang"] for row in rows])
    held = np.array([digest(row)[1] % 10 == 0 for row in rows])
    model = LogisticRegression(C=0.1, max_iter=3000, class_weight="balanced")
    model.fit(states[~held], languages[~held])
    found = model.predict(states[held])
    for language in model.classes_:
        mine = languages[held] == language
        print(f"{language}: {np.mean(found[mine] == language):.3f} of {mine.sum()} prompts kept out")
    save_file(
        {
            # Row by row: the fit leaves them column by column, which would be saved as it lies.
            "weight": np.ascontiguousarray(model.coef_, dtype=np.float32),
            "bias": np.ascontiguousarray(model.intercept_, dtype=np.float32),
        },
        OUT,
        metadata={"languages": ",".join(model.classes_)},
    )
    print(f"size = {OUT.stat().st_size}\nsha256 = \"{hashlib.sha256(OUT.read_bytes()).hexdigest()}\"")


if __name__ == "__main__":
    main()
