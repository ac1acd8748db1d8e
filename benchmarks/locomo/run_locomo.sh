#!/usr/bin/env bash
# The protocol's call: bash run_locomo.sh <TAG> <RESULT FOLDER> [options of `recallbench run`]
set -euo pipefail
if [ $# -lt 2 ]; then
    echo "usage: bash run_locomo.sh TAG FOLDER [options of recallbench run]" >&2
    exit 2
fi
tag=$1 folder=$2
shift 2
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec "${PYTHON:-python3}" "$here/runner.py" --version "$tag" --folder "$folder" "$@"
