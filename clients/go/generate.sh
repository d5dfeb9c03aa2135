#!/usr/bin/env bash
# Generates signalboxpb from proto/ here, or below the folder given. BUF names the `buf` binary;
# the plugins are the tools that go.mod pins.
set -euo pipefail

here=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")" && pwd)
out=${1:-$here}
buf=${BUF:-buf}

rm -rf -- "$out/signalboxpb"
mkdir -p -- "$out"
out=$(cd -- "$out" && pwd)

# `go tool` finds the plugins by the go.mod of the working directory.
cd -- "$here"
"$buf" generate ../../proto --template buf.gen.yaml --output "$out"
